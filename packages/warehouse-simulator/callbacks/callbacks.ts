import { randomBytes } from 'node:crypto';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { CallbackPlan } from '../behaviour/fates.ts';
import type { Counters } from '../counters.ts';
import type { Deed } from '../ledger/deeds.ts';
import type { Timers } from '../timers.ts';
import type { InnerCallback, Sender, Verdict } from './callback-sender.ts';

export type OpenCallback = { key: string; request_id: string; state: 'owed' | 'lost' };
type Deps = {
  behaviour: () => Behaviour;
  counters: Counters;
  timers: Timers;
  sender: Sender;
  /** Carries out what was put off, and remembers it. */
  carryOut: (deed: Deed) => Promise<void>;
  /** Remembers how the callback stands. */
  onState: (deed: Deed) => Promise<void>;
};

const longestPause = 10_000;

/** Makes callbacks, and sends one until the shop has answered it. */
function openDelivery({
  behaviour,
  counters,
  timers,
  sender,
}: Pick<Deps, 'behaviour' | 'counters' | 'timers' | 'sender'>) {
  // A shop remembers callback ids for ever: those of another run must not look like ours.
  const run = randomBytes(4).toString('hex');
  let serial = 0;

  const sendOnce = (inner: InnerCallback): Promise<Verdict> => {
    const { callbackUrl, callbackTimeoutMs } = behaviour();
    counters.callbacks.sent += 1;
    return sender.send(callbackUrl, inner, callbackTimeoutMs);
  };
  return {
    async send(inner: InnerCallback): Promise<'delivered' | 'refused' | 'given_up'> {
      for (let attempt = 1; ; attempt += 1) {
        const verdict = await sendOnce(inner);
        if (verdict !== 'again') return verdict;
        const { callbackAttempts, callbackPauseMs } = behaviour();
        if (attempt >= callbackAttempts) return 'given_up';
        await timers.pause(Math.min(callbackPauseMs * 2 ** (attempt - 1), longestPause));
      }
    },
    innerOf(deed: Deed, status: InnerCallback['status'], message: string): InnerCallback {
      serial += 1;
      return { request_id: deed.intent.request_id, callback_id: `cb-${run}-${serial}`, status, message };
    },
  };
}

/** Tells the shop how its actions ended, as well or badly as the plan says. */
export function openCallbacks({ behaviour, counters, timers, sender, carryOut, onState }: Deps) {
  const delivery = openDelivery({ behaviour, counters, timers, sender });
  const owed = new Set<Deed>();
  const lost = new Set<Deed>();
  let waiting: (() => void)[] = [];

  const follow = async (deed: Deed, plan: CallbackPlan): Promise<void> => {
    await timers.pause(plan.delayMs);
    if (plan.processing && !plan.lost) {
      await delivery.send(delivery.innerOf(deed, 'processing', 'in work'));
      await timers.pause(plan.delayMs);
    }
    await carryOut(deed);
    if (plan.lost) {
      deed.callback = 'lost';
      lost.add(deed);
      counters.callbacks.lost += 1;
      return onState(deed);
    }
    const { code, message } = deed.answer!;
    const inner = delivery.innerOf(
      deed,
      code === 0 ? 'success' : 'failed',
      code === 0 ? message : `${code} ${message}`,
    );
    const again = async () => {
      await timers.pause(plan.duplicateMs!);
      counters.callbacks.duplicates += 1;
      await delivery.send(inner);
    };
    const [end] = await Promise.all([delivery.send(inner), plan.duplicateMs === null ? undefined : again()]);
    deed.callback = end;
    counters.callbacks[end] += 1;
    await onState(deed);
  };

  return {
    /** Owes the shop a callback from now on; of one that is owed already there is no second. */
    async tell(deed: Deed, plan: CallbackPlan): Promise<void> {
      if (owed.has(deed)) return;
      deed.callback = 'owed';
      owed.add(deed);
      lost.delete(deed);
      try {
        await follow(deed, plan);
      } finally {
        owed.delete(deed);
        if (owed.size === 0) {
          for (const resolve of waiting) resolve();
          waiting = [];
        }
      }
    },
    markLost: (deed: Deed) => lost.add(deed),
    idle: (): Promise<void> => (owed.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    open: (): OpenCallback[] => {
      const row = (state: 'owed' | 'lost') => (deed: Deed) => ({
        ...{ key: deed.key, request_id: deed.intent.request_id, state },
      });
      return [...[...owed].map(row('owed')), ...[...lost].map(row('lost'))];
    },
    close() {
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}
