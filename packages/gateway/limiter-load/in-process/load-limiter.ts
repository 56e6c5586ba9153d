import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import type { Limiter, Limits, Verdict } from '@tradepost/rate-limiter';
import { exactFindings, noFindings } from '../findings.ts';
import type { LoadRun } from '../load-run.ts';
import { openPace, type Pace, type PaceOptions, runWorkers } from '../pace.ts';
import { countError, openTally, type Tally } from '../tally.ts';
import { type AdmissionLog, openAdmissionLog } from './admission-log.ts';
import { type Mix, type MixOptions, openMix } from './mix.ts';

export type LimiterLoad = PaceOptions & {
  readonly mix: MixOptions;
  readonly limits: Limits;
  readonly concurrency: number;
  readonly windowMs: number;
  /** How often the limiter answered without its store; null for a limiter without a store. */
  readonly cacheHits: (() => number) | null;
  /** Keys that were dropped because the memory was full. */
  readonly evicted: () => number;
};

/** Checks between two updates of the log: about a millisecond of an embedded limiter. */
const slice = 1_024;
/** After this time the view and signals get an iteration of the event loop. */
const iterationMs = 8;
/** Within this time after an answer of the store, all earlier answers have arrived. The deadline of the store is shorter. */
const storeGraceMs = 500;
const judgeMs = 100;

/** The store may have charged the request. */
const isVerdictLost = ({ unchecked }: { unchecked?: string }) => unchecked === 'timeout' || unchecked === 'error';
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

type Parts = { limiter: Limiter; load: LimiterLoad; mix: Mix; tally: Tally; log: AdmissionLog; pace: Pace };

/** Runs one check after the other, each timed. The log is updated between slices. */
async function runEmbedded({ limiter, load: { limits }, mix, tally, log, pace }: Parts): Promise<void> {
  const keys = new Uint32Array(slice * 4);
  const costs = new Float64Array(slice);
  const verdicts: (Verdict | null)[] = new Array(slice).fill(null);
  const { latency, refusedBy } = tally;
  let iterationBegan = performance.now();
  while (pace.ended === null) {
    const count = pace.take(slice);
    if (count === 0) {
      await sleep(1);
      log.judgeDue(performance.now());
      continue;
    }
    const subjects = [];
    for (let i = 0; i < count; i += 1) {
      costs[i] = mix.draw(keys, i * 4);
      subjects.push(mix.subjectOf(keys, i * 4));
    }
    let before = performance.now();
    for (let i = 0; i < count; i += 1) {
      try {
        verdicts[i] = limiter.check(subjects[i]!, limits, costs[i]!) as Verdict;
      } catch (error) {
        verdicts[i] = null;
        countError(tally, messageOf(error));
      }
      const after = performance.now();
      latency.record(after - before);
      before = after;
    }
    for (let i = 0; i < count; i += 1) {
      const verdict = verdicts[i];
      if (!verdict) continue;
      if (verdict.admitted) {
        tally.admitted += 1;
        log.admitted(verdict.at, keys, i * 4, costs[i]!);
      } else {
        tally.refused += 1;
        refusedBy[verdict.dimension] += 1;
        log.refused(verdict.at, verdict.at, keys, i * 4, costs[i]!, before);
      }
    }
    log.judgeDue(before);
    if (log.full) pace.end('log_full');
    if (before - iterationBegan >= iterationMs) {
      await nextIteration();
      iterationBegan = performance.now();
    }
  }
}

/** Runs one check per worker at a time, on a limiter with a store. */
async function runShared({ limiter, load, mix, tally, log, pace }: Parts): Promise<void> {
  const { limits, cacheHits } = load;
  const exact = limiter.kind === 'redis';
  // The last verdict of the store: its time on the clock of the store, and the local time when it arrived.
  let storeAt = 0;
  let storeArrived = 0;
  const checkOne = () => {
    const keys = [0, 0, 0, 0];
    const cost = mix.draw(keys, 0);
    const began = performance.now();
    const record = (verdict: Verdict, cached: boolean) => {
      const now = performance.now();
      tally.latency.record(now - began);
      if (verdict.admitted) {
        tally.admitted += 1;
        if (verdict.unchecked) {
          tally.unchecked += 1;
          if (isVerdictLost(verdict)) log.verdictLost();
          return;
        }
      } else {
        tally.refused += 1;
        tally.refusedBy[verdict.dimension] += 1;
      }
      if (!exact) return;
      if (verdict.admitted) log.admitted(verdict.at, keys, 0, cost);
      else if (!cached) log.refused(verdict.at, verdict.at, keys, 0, cost, now);
      else {
        // Since the last answer arrived, the clock of the store has advanced at least as far as the local one.
        const at = Math.floor(storeAt + now - storeArrived);
        log.refused(at, Number.POSITIVE_INFINITY, keys, 0, cost, now);
      }
      if (!cached) {
        storeAt = verdict.at;
        storeArrived = now;
      }
      if (log.full) pace.end('log_full');
    };
    const failed = (error: unknown) => countError(tally, messageOf(error));
    const hits = cacheHits?.() ?? 0;
    try {
      const verdict = limiter.check(mix.subjectOf(keys, 0), limits, cost);
      if (verdict instanceof Promise) return verdict.then((late) => record(late, false)).catch(failed);
      record(verdict, (cacheHits?.() ?? 0) > hits);
    } catch (error) {
      failed(error);
    }
  };
  const timer = setInterval(() => log.judgeDue(performance.now()), judgeMs);
  await runWorkers(pace, load.concurrency, checkOne).finally(() => clearInterval(timer));
}

const clusterNote = 'not verified: each node of a cluster has its own clock';

/** Without the limits of dimensions that the mix does not use. */
function usedLimits(limits: Limits, { tokensPerUser, ips, models }: MixOptions): Limits {
  return {
    ...limits,
    ...(tokensPerUser === 0 ? { token_rpm: 0, token_tpm: 0 } : {}),
    ...(ips === 0 ? { ip_rpm: 0 } : {}),
    ...(models === 0 ? { model_rpm: 0, model_tpm: 0 } : {}),
  };
}

/** Loads a limiter in this process, and compares its verdicts with a log of its own. */
export function loadLimiter(limiter: Limiter, given: LimiterLoad): LoadRun {
  const load = { ...given, limits: usedLimits(given.limits, given.mix) };
  const mix = openMix(load.mix);
  const embedded = limiter.kind === 'embedded';
  const { limits, windowMs } = load;
  const graceMs = embedded ? 5 : storeGraceMs;
  const log = openAdmissionLog({ limits, counts: mix.counts, windowMs, graceMs });
  const tally = openTally();
  const pace = openPace(load);
  const run = async () => {
    await (embedded ? runEmbedded : runShared)({ limiter, load, mix, tally, log, pace });
    log.judgeDue(Number.POSITIVE_INFINITY);
    if (limiter.kind === 'redis-cluster') return { ...noFindings, notes: [clusterNote] };
    return { ...exactFindings(log, limits, mix.nameOf), evicted: load.evicted() };
  };
  return {
    ...{ target: limiter.kind, tally, pace },
    wrong: () => ({ overAdmissions: log.overAdmissions, falseRefusals: log.falseRefusals }),
    done: run(),
  };
}
