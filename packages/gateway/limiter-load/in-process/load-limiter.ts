import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
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
  /** How many answers the limiter gave without asking its store; null where it has no such. */
  readonly cacheHits: (() => number) | null;
  /** Keys given up for want of memory. */
  readonly evicted: () => number;
};

/** Checks between two looks at the book and at the clock: about a millisecond of an embedded limiter. */
const slice = 1_024;
/** The event loop gets a turn so often: the view, signals. */
const turnMs = 8;
/** From a store's answer to when all before it have been told, too: its deadline is far below. */
const storeGraceMs = 500;
const settleMs = 100;

const isLost = ({ unchecked }: { unchecked?: string }) => unchecked === 'timeout' || unchecked === 'error';
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

type Parts = { limiter: Limiter; load: LimiterLoad; mix: Mix; tally: Tally; log: AdmissionLog; pace: Pace };

/** One check after the other, each timed; the book is kept between slices. */
async function runEmbedded({ limiter, load: { limits }, mix, tally, log, pace }: Parts): Promise<void> {
  const keys = new Uint32Array(slice * 4);
  const costs = new Float64Array(slice);
  const verdicts: (Verdict | null)[] = new Array(slice).fill(null);
  const { latency, refusedBy } = tally;
  let turned = performance.now();
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
    if (before - turned >= turnMs) {
      await turn();
      turned = performance.now();
    }
  }
}

/** As many checks at once as there are workers, on a limiter that asks a store. */
async function runShared({ limiter, load, mix, tally, log, pace }: Parts): Promise<void> {
  const { limits, cacheHits } = load;
  const exact = limiter.kind === 'redis';
  // Of the last verdict of the store: its clock, and ours when it had come.
  let storeAt = 0;
  let storeSeen = 0;
  const one = () => {
    const keys = [0, 0, 0, 0];
    const cost = mix.draw(keys, 0);
    const began = performance.now();
    const tell = (verdict: Verdict, cached: boolean) => {
      const now = performance.now();
      tally.latency.record(now - began);
      if (verdict.admitted) {
        tally.admitted += 1;
        if (verdict.unchecked) {
          tally.unchecked += 1;
          if (isLost(verdict)) log.verdictLost();
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
        // The store's clock has gone on for at least as long as ours since its last answer was here.
        const at = Math.floor(storeAt + now - storeSeen);
        log.refused(at, Number.POSITIVE_INFINITY, keys, 0, cost, now);
      }
      if (!cached) {
        storeAt = verdict.at;
        storeSeen = now;
      }
      if (log.full) pace.end('log_full');
    };
    const failed = (error: unknown) => countError(tally, messageOf(error));
    const hits = cacheHits?.() ?? 0;
    try {
      const verdict = limiter.check(mix.subjectOf(keys, 0), limits, cost);
      if (verdict instanceof Promise) return verdict.then((late) => tell(late, false)).catch(failed);
      tell(verdict, (cacheHits?.() ?? 0) > hits);
    } catch (error) {
      failed(error);
    }
  };
  const timer = setInterval(() => log.judgeDue(performance.now()), settleMs);
  await runWorkers(pace, load.concurrency, one).finally(() => clearInterval(timer));
}

const clusterNote = 'not verified: the nodes of a cluster have a clock each';

/** What the mix never has is not limited. */
function limitsInUse(limits: Limits, { tokensPerUser, ips, models }: MixOptions): Limits {
  return {
    ...limits,
    ...(tokensPerUser === 0 ? { token_rpm: 0, token_tpm: 0 } : {}),
    ...(ips === 0 ? { ip_rpm: 0 } : {}),
    ...(models === 0 ? { model_rpm: 0, model_tpm: 0 } : {}),
  };
}

/** Loads a limiter of this process, and holds its verdicts against a book of its own. */
export function loadLimiter(limiter: Limiter, given: LimiterLoad): LoadRun {
  const load = { ...given, limits: limitsInUse(given.limits, given.mix) };
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
