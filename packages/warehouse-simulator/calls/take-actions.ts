import type { Behaviour } from '../behaviour/behaviour.ts';
import { type CallbackPlan, drawPlan, plainPlan } from '../behaviour/fates.ts';
import type { Deed, Deeds } from '../ledger/deeds.ts';
import type { Journal } from '../ledger/journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Answer, codes, type Intent } from '../protocol.ts';
import type { Timers } from '../timers.ts';

type Deps = {
  ledger: Ledger;
  deeds: Deeds;
  timers: Timers;
  journal: Journal;
  behaviour: () => Behaviour;
  random: () => number;
  tell: (deed: Deed, plan: CallbackPlan) => Promise<void>;
};

const accepted: Answer = { code: codes.done, message: 'accepted' };
/** An early callback that the shop does not answer holds the call up for so long. */
const earlyMs = 1_000;

/** Takes each action once: what is known is answered as before. */
export function openTaking({ ledger, deeds, timers, journal, behaviour, random, tell }: Deps) {
  const record = ({ intent, answer, callback }: Deed) => journal.add({ t: 'deed', intent, answer, callback });

  const carryOut = async (deed: Deed): Promise<void> => {
    if (deed.answer) return;
    deed.answer = ledger.apply(deed.intent);
    await record(deed);
  };

  const takeAsync = async (deed: Deed): Promise<Answer> => {
    const of = behaviour();
    const plan = drawPlan(random, of);
    if (plan.failed) deed.answer = { code: codes.business, message: 'refused at random' };
    else if (of.carryOut === 'at_once') {
      deed.answer = ledger.apply(deed.intent);
      if (deed.answer.code !== 0 && of.refusalsBy === 'code') {
        await record(deed);
        return deed.answer;
      }
    }
    const told = tell(deed, plan);
    await record(deed);
    if (plan.early) await Promise.race([told, timers.pause(earlyMs)]);
    return accepted;
  };

  const repeat = async (deed: Deed): Promise<Answer> => {
    const isAsync = behaviour().callbacks === 'async';
    // A refusal that was told by code stays one.
    if (isAsync && (deed.callback !== 'none' || deed.answer?.code === 0)) {
      void tell(deed, plainPlan);
      return accepted;
    }
    await carryOut(deed);
    return deed.answer!;
  };

  return {
    carryOut,
    /** With `refusal` nothing is done, and that is the answer for good. */
    async take(intent: Intent, refusal: Answer | null): Promise<Answer> {
      const found = deeds.find(intent);
      if (found && 'conflict' in found) return found.conflict;
      if (found) {
        const { deed } = found;
        const isOpen = deed.answer === null || deed.answer.code === 0 || deed.callback === 'owed';
        if (isOpen || behaviour().rememberRefusals) return repeat(deed);
      }
      const deed = found ? Object.assign(found.deed, { answer: null, callback: 'none' as const }) : deeds.add(intent);
      if (!refusal && behaviour().callbacks === 'async') return takeAsync(deed);
      deed.answer = refusal ?? ledger.apply(intent);
      await record(deed);
      return deed.answer;
    },
  };
}
export type Taking = ReturnType<typeof openTaking>;
