import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '@tradepost/postgres';
import type { Environment, Outcome as Result, Scenario, Size } from '@tradepost/testing/processes/scenario-cli';
import { startOrdinaryLoad } from './ordinary-load.ts';
import { openTestServers, type Target, type TestServers } from './test-servers.ts';

export type Outcome = Result & {
  /** Hostile requests or connections. */
  sent: number;
  /** Orders that ordinary shoppers placed during the attack. */
  purchases: number;
  /** 99th percentile of ordinary requests. */
  p99Ms: number;
  /** The longest block of the server's event loop. */
  stallMs: number;
  /** Peak resident memory of the server. */
  peakMb: number;
};

export const emptyOutcome = (): Outcome => ({ sent: 0, purchases: 0, p99Ms: 0, stallMs: 0, peakMb: 0, faults: [] });

/**
 * Bounds during every attack. The short form runs beside other tests on the same cores, so its times are long enough to
 * exclude their influence.
 */
const bounds = {
  /** The longest time in which the server answers no request. */
  stallMs: { short: 4_000, long: 1_500 },
  ordinaryP99Ms: { short: 6_000, long: 2_000 },
  /** Resident megabytes above those before the attack. */
  growthMb: 300,
} as const;

/** Ends an attack that hangs. On an idle machine one attack on one server takes a few seconds in the short form. */
const longestMs = 90_000;

/** One attack on one server. */
export type AttackRun = {
  servers: TestServers;
  target: Target;
  size: Size;
  /** Chooses a figure by the size of the run. */
  of(figure: { short: number; long: number }): number;
  sent(count: number): void;
  fault(text: string): void;
  progress(line: string): void;
};

export type Attack = {
  name: string;
  about: string;
  /** `each`: the attack concerns the transport, so the short form also attacks both. */
  transports: 'each' | 'any';
  /** The attack mostly waits, so both transports are attacked at the same time. */
  waits?: boolean;
  /** Overrides `bounds.growthMb`. */
  growthMb?: number;
  /**
   * For an attack that keeps the processor busy, in the long form: harmless work of the same amount. It runs on the same server
   * just before the attack.
   */
  harmless?: {
    run(attackRun: AttackRun): Promise<void>;
    /** p99 and stall may be so many times those of the harmless work, where that is more than `bounds`. */
    times: number;
  };
  run(attackRun: AttackRun): Promise<void>;
};

/** Faults to report for one attack on one server. */
const reportedFaults = 12;

/** The longest block of the event loop of a server since the last call. The metric is reset when it is read. */
const stallOf = async (target: Target) => (await target.metric('nodejs_eventloop_lag_max_seconds')) * 1000;

/** What an attack does that has not ended: for the cause of a hang that occurs once in many runs. */
async function stateOf({ servers }: AttackRun, { sent }: Outcome, lastProgress: string): Promise<string> {
  // A connection of its own: those of the attack may be what hangs.
  const sql = openDatabase(servers.databaseUrl, { max: 1, name: 'hostile state' });
  const running = await sql`
    select application_name, state, wait_event, now() - query_start as since, left(query, 200) as query
    from pg_stat_activity
    where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid() order by query_start limit 10`;
  await sql.end();
  return `${sent} sent, last progress: ${lastProgress}, statements: ${JSON.stringify(running)}`;
}

/** The bounds of p99 and of the longest block during the attack. A slow machine is also slow in the harmless work. */
async function timeLimits({ harmless }: Attack, attackRun: AttackRun): Promise<{ p99Ms: number; stallMs: number }> {
  const { servers, target, size } = attackRun;
  const limits = { p99Ms: bounds.ordinaryP99Ms[size], stallMs: bounds.stallMs[size] };
  if (!harmless || size === 'short') return limits;
  await stallOf(target);
  const ordinaryLoad = startOrdinaryLoad(servers, target);
  await harmless
    .run(attackRun)
    .catch((error: Error) => attackRun.fault(`the harmless work ended early: ${error.stack}`));
  const { p99Ms, faults } = await ordinaryLoad.end();
  for (const text of faults) attackRun.fault(`during the harmless work: ${text}`);
  const stallMs = await stallOf(target);
  attackRun.progress(`harmless work: p99 ${Math.round(p99Ms)} ms, stall ${Math.round(stallMs)} ms`);
  return {
    p99Ms: Math.max(limits.p99Ms, Math.round(harmless.times * p99Ms)),
    stallMs: Math.max(limits.stallMs, Math.round(harmless.times * stallMs)),
  };
}

async function attackTarget(
  attack: Attack,
  target: Target,
  servers: TestServers,
  environment: Environment,
): Promise<Outcome> {
  const { size } = environment;
  const outcome = emptyOutcome();
  const faults: string[] = [];
  let lastProgress = 'none';
  const attackRun: AttackRun = {
    ...{ servers, target, size },
    of: (figure) => figure[size],
    sent(count) {
      outcome.sent += count;
    },
    fault: (text) => void faults.push(text),
    progress(line) {
      lastProgress = line;
      environment.progress(`${target.name}: ${line}`);
    },
  };
  if (target.ended() !== null) {
    outcome.faults.push(`${target.name}: the server has ended with ${target.ended()} before this attack`);
    return outcome;
  }
  const limits = await timeLimits(attack, attackRun);
  await stallOf(target);
  const before = target.residentMb();
  const ordinaryLoad = startOrdinaryLoad(servers, target);
  const sampling = setInterval(() => {
    outcome.peakMb = Math.max(outcome.peakMb, target.residentMb());
  }, 50);
  try {
    // Ordinary load starts before the attack.
    await sleep(200);
    const cancel = new AbortController();
    const late = sleep(longestMs, undefined, { signal: cancel.signal }).then(
      async () => {
        const state = await stateOf(attackRun, outcome, lastProgress);
        attackRun.fault(`the attack has not ended after ${longestMs / 1000} s: ${state}`);
      },
      () => {},
    );
    const run = attack
      .run(attackRun)
      .catch((error: Error) => attackRun.fault(`the attack ended early: ${error.stack}`));
    await Promise.race([run, late]);
    cancel.abort();
    outcome.stallMs = Math.round(
      await stallOf(target).catch((error: Error) => {
        attackRun.fault(`/metrics does not answer after the attack: ${error.message}`);
        return 0;
      }),
    );
  } finally {
    clearInterval(sampling);
  }
  const { purchases, p99Ms, faults: loadFaults } = await ordinaryLoad.end();
  outcome.purchases = purchases;
  outcome.p99Ms = Math.round(p99Ms);
  outcome.peakMb = Math.round(outcome.peakMb);
  faults.push(...loadFaults);
  const grown = outcome.peakMb - before;
  if (outcome.stallMs > limits.stallMs)
    faults.push(`the event loop was blocked for ${outcome.stallMs} ms (at most ${limits.stallMs})`);
  if (p99Ms > limits.p99Ms) faults.push(`ordinary requests took ${outcome.p99Ms} ms at p99 (at most ${limits.p99Ms})`);
  const { growthMb = bounds.growthMb } = attack;
  if (grown > growthMb)
    faults.push(`the server grew by ${Math.round(grown)} MB to ${outcome.peakMb} (at most ${growthMb})`);
  if (target.ended() !== null) faults.push(`the server ended with ${target.ended()}`);
  outcome.faults = faults.slice(0, reportedFaults).map((text) => `${target.name}: ${text}`);
  if (faults.length > reportedFaults) outcome.faults.push(`${target.name}: ${faults.length - reportedFaults} more`);
  environment.progress(
    `${target.name}: ${outcome.sent} sent, ${purchases} purchases meanwhile, p99 ${outcome.p99Ms} ms`,
  );
  return outcome;
}

const worst = (outcomes: readonly Outcome[]): Outcome => {
  const most = (of: (outcome: Outcome) => number) => Math.max(...outcomes.map(of));
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
  return {
    sent: sum(({ sent }) => sent),
    purchases: sum(({ purchases }) => purchases),
    p99Ms: most(({ p99Ms }) => p99Ms),
    stallMs: most(({ stallMs }) => stallMs),
    peakMb: most(({ peakMb }) => peakMb),
    faults: outcomes.flatMap(({ faults }) => faults),
  };
};

/** Makes a scenario of an attack: on both servers, with ordinary load on each. */
export function scenarioOf(attack: Attack): Scenario<Outcome> {
  return {
    name: attack.name,
    about: attack.about,
    async run(environment) {
      const servers = await openTestServers(environment.clusterUrl);
      const [first] = servers.targets;
      const targets = attack.transports === 'any' && environment.size === 'short' ? [first] : servers.targets;
      const on = (target: Target) => attackTarget(attack, target, servers, environment);
      if (attack.waits) return worst(await Promise.all(targets.map(on)));
      const outcomes: Outcome[] = [];
      for (const target of targets) outcomes.push(await on(target));
      return worst(outcomes);
    },
  };
}
