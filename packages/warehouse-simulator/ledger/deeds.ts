import { type Answer, codes, type Intent, keyOf } from '../protocol.ts';
import type { CallbackState } from './journal.ts';

/** An action that was taken, under its idempotency key. */
export type Deed = {
  key: string;
  intent: Intent;
  /** Null: accepted, not carried out yet. */
  answer: Answer | null;
  callback: CallbackState;
};
export type Found = { deed: Deed } | { conflict: Answer } | null;

const conflict = (message: string): Found => ({ conflict: { code: codes.business, message } });

/** All actions that were taken, by biz_type + biz_no + action and by request_id. */
export function openDeeds() {
  const byKey = new Map<string, Deed>();
  const byRequest = new Map<string, Deed>();
  return {
    find(intent: Intent): Found {
      const key = keyOf(intent);
      const deed = byKey.get(key);
      const other = byRequest.get(intent.request_id);
      if (other && other !== deed) return conflict(`request_id ${intent.request_id} belongs to ${other.key}`);
      if (!deed) return null;
      if (JSON.stringify(deed.intent.items) !== JSON.stringify(intent.items))
        return conflict(`${key} is known with other quantities`);
      byRequest.set(intent.request_id, deed);
      return { deed };
    },
    add(intent: Intent): Deed {
      const deed: Deed = { key: keyOf(intent), intent, answer: null, callback: 'none' };
      byKey.set(deed.key, deed);
      byRequest.set(intent.request_id, deed);
      return deed;
    },
    get: (key: string): Deed | undefined => byKey.get(key),
    all: (): Iterable<Deed> => byKey.values(),
  };
}
export type Deeds = ReturnType<typeof openDeeds>;
