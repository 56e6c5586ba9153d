import { randomBytes } from 'node:crypto';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { CallbackPlan } from '../behaviour/draw-plans.ts';
import type { Counters } from '../counters.ts';
import type { ActionRecord } from '../ledger/action-records.ts';
import type { Timers } from '../timers.ts';
import type { InnerCallback, Sender, Verdict } from './callback-sender.ts';

export type OpenCallback = { key: string; request_id: string; state: 'owed' | 'lost' };
type Deps = {
  behaviour: () => Behaviour;
  counters: Counters;
  timers: Timers;
  sender: Sender;
  /** Performs an accepted action that was not performed yet, and records it. */
  carryOut: (record: ActionRecord) => Promise<void>;
  /** Records the state of the callback. */
  onState: (record: ActionRecord) => Promise<void>;
};

const longestPauseMs = 10_000;

/** Makes callbacks, and sends each until the shop answers or the attempts are used up. */
function openDelivery({
  behaviour,
  counters,
  timers,
  sender,
}: Pick<Deps, 'behaviour' | 'counters' | 'timers' | 'sender'>) {
  // A shop remembers callback ids for ever, so each run of the simulator has its own ids.
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
        if (verdict !== 'retry') return verdict;
        const { callbackAttempts, callbackPauseMs } = behaviour();
        if (attempt >= callbackAttempts) return 'given_up';
        await timers.pause(Math.min(callbackPauseMs * 2 ** (attempt - 1), longestPauseMs));
      }
    },
    innerOf(record: ActionRecord, status: InnerCallback['status'], message: string): InnerCallback {
      serial += 1;
      return { request_id: record.intent.request_id, callback_id: `cb-${run}-${serial}`, status, message };
    },
  };
}

/** Reports the results of actions to the shop, with the faults of the plan. */
export function openCallbacks({ behaviour, counters, timers, sender, carryOut, onState }: Deps) {
  const delivery = openDelivery({ behaviour, counters, timers, sender });
  const owed = new Set<ActionRecord>();
  const lost = new Set<ActionRecord>();
  /** Resolve the promises of `idle`. */
  let waiting: (() => void)[] = [];

  const report = async (record: ActionRecord, plan: CallbackPlan): Promise<void> => {
    await timers.pause(plan.delayMs);
    if (plan.processing && !plan.lost) {
      await delivery.send(delivery.innerOf(record, 'processing', 'in work'));
      await timers.pause(plan.delayMs);
    }
    await carryOut(record);
    if (plan.lost) {
      record.callback = 'lost';
      lost.add(record);
      counters.callbacks.lost += 1;
      return onState(record);
    }
    const { code, message } = record.answer!;
    const inner = delivery.innerOf(
      record,
      code === 0 ? 'success' : 'failed',
      code === 0 ? message : `${code} ${message}`,
    );
    const sendDuplicate = async () => {
      await timers.pause(plan.duplicateMs!);
      counters.callbacks.duplicates += 1;
      await delivery.send(inner);
    };
    const [end] = await Promise.all([delivery.send(inner), plan.duplicateMs === null ? undefined : sendDuplicate()]);
    record.callback = end;
    counters.callbacks[end] += 1;
    await onState(record);
  };

  return {
    /** Sends the callback of an action, unless it is being sent. It is `owed` until the shop has answered. */
    async send(record: ActionRecord, plan: CallbackPlan): Promise<void> {
      if (owed.has(record)) return;
      record.callback = 'owed';
      owed.add(record);
      lost.delete(record);
      try {
        await report(record, plan);
      } finally {
        owed.delete(record);
        if (owed.size === 0) {
          for (const resolve of waiting) resolve();
          waiting = [];
        }
      }
    },
    markLost: (record: ActionRecord) => lost.add(record),
    idle: (): Promise<void> => (owed.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    open: (): OpenCallback[] => {
      const row = (state: 'owed' | 'lost') => (record: ActionRecord) => ({
        ...{ key: record.key, request_id: record.intent.request_id, state },
      });
      return [...[...owed].map(row('owed')), ...[...lost].map(row('lost'))];
    },
    close() {
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}
