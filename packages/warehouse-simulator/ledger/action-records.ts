import { type Answer, codes, type Intent, keyOf } from '../protocol.ts';
import type { CallbackState } from './journal.ts';

/** An action that was received, under its idempotency key. */
export type ActionRecord = {
  key: string;
  intent: Intent;
  /** Null: accepted, but not performed yet. */
  answer: Answer | null;
  callback: CallbackState;
};
export type Found = { record: ActionRecord } | { conflict: Answer } | null;

const conflict = (message: string): Found => ({ conflict: { code: codes.business, message } });

/** All actions that were received, by biz_type + biz_no + action and by request_id. */
export function openActionRecords() {
  const byKey = new Map<string, ActionRecord>();
  const byRequest = new Map<string, ActionRecord>();
  return {
    find(intent: Intent): Found {
      const key = keyOf(intent);
      const record = byKey.get(key);
      const other = byRequest.get(intent.request_id);
      if (other && other !== record) return conflict(`request_id ${intent.request_id} belongs to ${other.key}`);
      if (!record) return null;
      if (JSON.stringify(record.intent.items) !== JSON.stringify(intent.items))
        return conflict(`${key} is known with other quantities`);
      byRequest.set(intent.request_id, record);
      return { record };
    },
    add(intent: Intent): ActionRecord {
      const record: ActionRecord = { key: keyOf(intent), intent, answer: null, callback: 'none' };
      byKey.set(record.key, record);
      byRequest.set(intent.request_id, record);
      return record;
    },
    get: (key: string): ActionRecord | undefined => byKey.get(key),
    all: (): Iterable<ActionRecord> => byKey.values(),
  };
}
export type ActionRecords = ReturnType<typeof openActionRecords>;
