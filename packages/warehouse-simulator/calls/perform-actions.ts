import type { Behaviour } from '../behaviour/behaviour.ts';
import { type CallbackPlan, drawCallbackPlan, plainPlan } from '../behaviour/draw-plans.ts';
import type { ActionRecord, ActionRecords } from '../ledger/action-records.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Answer, codes, type Intent } from '../protocol.ts';
import type { Timers } from '../timers.ts';

type Deps = {
  ledger: Ledger;
  actions: ActionRecords;
  timers: Timers;
  journal: Journal;
  behaviour: () => Behaviour;
  random: () => number;
  sendCallback: (record: ActionRecord, plan: CallbackPlan) => Promise<void>;
};

const accepted: Answer = { code: codes.done, message: 'accepted' };
/** The answer to a call waits at most this long for the shop's answer to an early callback. */
const earlyMs = 1_000;

/** Performs each action once. A repeated action gets the answer of the first time. */
export function openPerformer({ ledger, actions, timers, journal, behaviour, random, sendCallback }: Deps) {
  const save = ({ intent, answer, callback }: ActionRecord) => journal.add({ t: 'action', intent, answer, callback });

  const carryOut = async (record: ActionRecord): Promise<void> => {
    if (record.answer) return;
    record.answer = ledger.apply(record.intent);
    await save(record);
  };

  const accept = async (record: ActionRecord): Promise<Answer> => {
    const of = behaviour();
    const plan = drawCallbackPlan(random, of);
    if (plan.failed) record.answer = { code: codes.business, message: 'refused at random' };
    else if (of.carryOut === 'at_once') {
      record.answer = ledger.apply(record.intent);
      if (record.answer.code !== 0 && of.refusalsBy === 'code') {
        await save(record);
        return record.answer;
      }
    }
    const delivered = sendCallback(record, plan);
    await save(record);
    if (plan.early) await Promise.race([delivered, timers.pause(earlyMs)]);
    return accepted;
  };

  const repeat = async (record: ActionRecord): Promise<Answer> => {
    const isAsync = behaviour().callbacks === 'async';
    // When the first answer refused the action by its code, a repeated delivery gets the same code.
    if (isAsync && (record.callback !== 'none' || record.answer?.code === 0)) {
      void sendCallback(record, plainPlan);
      return accepted;
    }
    await carryOut(record);
    return record.answer!;
  };

  return {
    carryOut,
    /** Performs an action, or returns its earlier answer. With `refusal`, the action is not done and is always refused. */
    async perform(intent: Intent, refusal: Answer | null): Promise<Answer> {
      const found = actions.find(intent);
      if (found && 'conflict' in found) return found.conflict;
      if (found) {
        const { record } = found;
        const isOpen = record.answer === null || record.answer.code === 0 || record.callback === 'owed';
        if (isOpen || behaviour().rememberRefusals) return repeat(record);
      }
      const record = found
        ? Object.assign(found.record, { answer: null, callback: 'none' as const })
        : actions.add(intent);
      if (!refusal && behaviour().callbacks === 'async') return accept(record);
      record.answer = refusal ?? ledger.apply(intent);
      await save(record);
      return record.answer;
    },
  };
}
export type Performer = ReturnType<typeof openPerformer>;
