import type { CallName } from '../protocol.ts';
import type { Behaviour } from './behaviour.ts';

export const faultKinds = ['fail', 'hang', 'html', 'string_code', 'close'] as const;
export type FaultKind = (typeof faultKinds)[number];
/** `after`: the fault happens after the work is done. */
export type Fault = { kind: FaultKind; after: boolean; code: number; status: 200 | 502 };
export type CallPlan = { delayMs: number; fault: Fault | null };
export type CallbackPlan = {
  delayMs: number;
  early: boolean;
  failed: boolean;
  lost: boolean;
  processing: boolean;
  /** The callback is sent a second time after this many milliseconds. Null: it is sent once. */
  duplicateMs: number | null;
};

export const plainPlan: CallbackPlan = {
  ...{ delayMs: 0, early: false, failed: false, lost: false, processing: false, duplicateMs: null },
};

/** Draws the delay and the fault of a call. The number of draws is constant, so that one option does not shift the others. */
export function drawCallPlan(random: () => number, of: Behaviour, call: CallName, faultsSoFar: number): CallPlan {
  const [jitter, which, when, code] = [random(), random(), random(), random()];
  const delayMs = of.delayMs + Math.floor(jitter * (of.jitterMs + 1));
  if (!of.faultCalls.includes(call) || faultsSoFar >= of.faultsPerKey) return { delayMs, fault: null };
  const rates = [of.failRate, of.hangRate, of.htmlRate, of.stringCodeRate, of.closeRate];
  let bound = 0;
  for (const [index, rate] of rates.entries()) {
    bound += rate;
    if (which >= bound) continue;
    const fault: Fault = {
      kind: faultKinds[index]!,
      after: when < of.failAfter,
      code: of.failCodes[Math.floor(code * of.failCodes.length)]!,
      status: code < 0.5 ? 200 : 502,
    };
    return { delayMs, fault };
  }
  return { delayMs, fault: null };
}

/** Draws the plan of a callback. The number of draws is constant. */
export function drawCallbackPlan(random: () => number, of: Behaviour): CallbackPlan {
  const [jitter, late, early, failed, lost, processing, duplicate, gap] = Array.from({ length: 8 }, random) as number[];
  const isEarly = early! < of.earlyRate;
  const delayMs = of.callbackDelayMs + Math.floor(jitter! * (of.callbackJitterMs + 1));
  return {
    delayMs: isEarly ? 0 : delayMs + (late! < of.lateRate ? of.lateMs : 0),
    early: isEarly,
    failed: failed! < of.failedCallbackRate,
    lost: lost! < of.lostCallbackRate,
    processing: processing! < of.processingFirstRate,
    // Half of the duplicates are sent at the same time as the first, half later.
    duplicateMs: duplicate! < of.duplicateRate ? Math.max(0, Math.floor((gap! - 0.5) * 100)) : null,
  };
}
