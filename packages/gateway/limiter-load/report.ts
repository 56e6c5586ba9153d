import { type Dimension, dimensionName, dimensions, type Limits } from '@tradepost/rate-limiter';
import { exitCodes, table } from '@tradepost/terminal';
import type { Findings } from './findings.ts';
import type { LoadRun } from './load-run.ts';
import type { Ended } from './pace.ts';
import { answeredOf } from './tally.ts';

/** What `limiter load --json` prints. Times in milliseconds. */
export type LoadReport = {
  readonly target: LoadRun['target'];
  /** null for a run in process. */
  readonly url: string | null;
  readonly ended: Ended;
  readonly seconds: number;
  readonly seed: number;
  readonly requests: number;
  readonly per_second: number;
  readonly admitted: number;
  readonly refused: number;
  readonly refused_by: Readonly<Record<Dimension, number>>;
  /** Requests that were admitted without a check. */
  readonly unchecked: number;
  readonly errors: number;
  readonly max_errors: number;
  readonly error_kinds: Readonly<Record<string, number>>;
  readonly latency_ms: { readonly mean: number; readonly p50: number; readonly p99: number; readonly max: number };
  /** Limits from the command line, else the defaults. Over HTTP the others were read or learned. */
  readonly limits: Partial<Limits>;
  readonly exactness: Findings;
  readonly passed: boolean;
};

const rounded = (value: number) => Math.round(value * 10_000) / 10_000;

export async function reportOf(
  run: LoadRun,
  { url, seed, limits, maxErrors }: { url: string | null; seed: number; limits: Partial<Limits>; maxErrors: number },
): Promise<LoadReport> {
  const exactness = await run.done;
  const { tally, pace } = run;
  const requests = answeredOf(tally);
  const { mean, p50, p99, max } = tally.latency.summary();
  const seconds = pace.elapsedMs / 1_000;
  const { over_admissions, false_refusals } = exactness;
  return {
    ...{ target: run.target, url, ended: pace.ended ?? 'stopped', seconds: rounded(seconds), seed, requests },
    per_second: Math.round(requests / Math.max(seconds, 0.001)),
    ...{ admitted: tally.admitted, refused: tally.refused, refused_by: tally.refusedBy },
    unchecked: Math.max(tally.unchecked, exactness.unchecked_by_metrics ?? 0),
    ...{ errors: tally.errors, max_errors: maxErrors, error_kinds: Object.fromEntries(tally.errorKinds) },
    latency_ms: { mean: rounded(mean), p50: rounded(p50), p99: rounded(p99), max: rounded(max) },
    ...{ limits, exactness },
    passed: over_admissions === 0 && (false_refusals ?? 0) === 0 && tally.errors <= maxErrors,
  };
}

export const exitCodeOf = ({ passed }: LoadReport): number => (passed ? exitCodes.done : exitCodes.failed);

const number = (value: number) => value.toLocaleString('en');
/** With as many digits as are useful to a person. */
export function inMs(ms: number): string {
  if (ms >= 100) return `${number(Math.round(ms))} ms`;
  return ms >= 0.1 ? `${ms.toFixed(1)} ms` : `${(ms * 1_000).toFixed(1)} µs`;
}

export const refusedText = (by: Readonly<Record<Dimension, number>>): string =>
  dimensions
    .filter((dimension) => by[dimension] > 0)
    .map((dimension) => `${dimensionName(dimension)} ${number(by[dimension])}`)
    .join(', ');

const endings: Readonly<Record<Ended, string>> = {
  duration: '--duration was reached',
  max_requests: '--max-requests was reached',
  stopped: 'stopped by a signal',
  log_full: 'more requests were admitted within a minute than the log holds: give lower limits or a --rate',
};

function verdictRows({ exactness: found, target }: LoadReport): string[][] {
  const names = (list: readonly Dimension[]) => list.map(dimensionName).join(', ') || 'nothing';
  const method = { exact: "by the limiter's clock", bound: 'what is certain from outside', none: 'no' }[found.method];
  const rows = [['Verified', `${method}: ${names(found.verified)}`]];
  if (found.not_verified.length > 0)
    rows.push([
      'Not verified',
      `${names(found.not_verified)}: their limits are not known (TRADEPOST_ADMIN_TOKEN reads them)`,
    ]);
  rows.push(['Over-admissions', number(found.over_admissions)]);
  if (found.explained_by_unchecked > 0)
    rows.push([
      '',
      `${number(found.explained_by_unchecked)} beyond a limit, explained by requests that passed without a check`,
    ]);
  if (found.false_refusals !== null) rows.push(['False refusals', number(found.false_refusals)]);
  if (found.unsure_refusals > 0)
    rows.push(['', `${number(found.unsure_refusals)} refusals could not be judged: charges may be missing in the log`]);
  if (target === 'embedded' && found.evicted > 0)
    rows.push(['Evicted', `${number(found.evicted)} keys were dropped because the memory was full: raise --memory-mb`]);
  for (const note of found.notes) rows.push(['Note', note]);
  for (const { what, key, dimension, count, limit, at } of found.proofs) {
    const when = at === null ? '' : ` at ${new Date(at).toISOString()}`;
    rows.push([
      'Proof',
      what === 'over_admission'
        ? `${key} had ${number(count)} of ${number(limit)} ${dimensionName(dimension!)} within a window${when}`
        : `${key} was refused although every dimension had room${when}`,
    ]);
  }
  return rows;
}

/** The report as a table for the terminal. */
export function reportText(report: LoadReport): string {
  const { latency_ms: latency } = report;
  const refused = refusedText(report.refused_by);
  const errors = Object.entries(report.error_kinds).map(([kind, count]) => `${kind} ${number(count)}`);
  return table([
    ['Target', report.url ?? `${report.target} limiter in this process`],
    ['Ended', `after ${report.seconds.toFixed(1)} s: ${endings[report.ended]}`],
    ['Requests', `${number(report.requests)} (${number(report.per_second)}/s), seed ${report.seed}`],
    ['Admitted', number(report.admitted)],
    ['Refused', `${number(report.refused)}${refused && `: ${refused}`}`],
    ['Unchecked', number(report.unchecked)],
    [
      'Errors',
      `${number(report.errors)} of at most ${number(report.max_errors)}${errors.length > 0 ? `: ${errors.join(', ')}` : ''}`,
    ],
    [
      'Latency',
      `mean ${inMs(latency.mean)}, p50 ${inMs(latency.p50)}, p99 ${inMs(latency.p99)}, max ${inMs(latency.max)}`,
    ],
    ...verdictRows(report),
  ]);
}
