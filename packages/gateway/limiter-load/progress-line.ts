import type { LoadRun } from './load-run.ts';
import { inMs, refusedText } from './report.ts';

const number = (value: number) => value.toLocaleString('en');

/** Returns a function that describes the progress of a run, with rates since its last call. */
export function progressLine(run: LoadRun): () => string {
  let before = { at: performance.now(), admitted: 0 };
  return () => {
    const { tally, pace } = run;
    const now = { at: performance.now(), admitted: tally.admitted };
    const rate = Math.round(((now.admitted - before.admitted) * 1_000) / Math.max(1, now.at - before.at));
    before = now;
    const refused = refusedText(tally.refusedBy);
    const { overAdmissions, falseRefusals } = run.wrong();
    return [
      `${(pace.elapsedMs / 1_000).toFixed(0)} s`,
      `admitted ${number(tally.admitted)} (${number(rate)}/s)`,
      `refused ${number(tally.refused)}${refused && ` (${refused})`}`,
      `p99 ${inMs(tally.latency.summary().p99)}`,
      `unchecked ${number(tally.unchecked)}`,
      `errors ${number(tally.errors)}`,
      `over-admissions ${number(overAdmissions)}`,
      ...(falseRefusals > 0 ? [`false refusals ${number(falseRefusals)}`] : []),
    ].join('  ');
  };
}
