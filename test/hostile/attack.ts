import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground, Outcome as Result, Scenario, Size } from '@tradepost/testing/processes/scenario-cli';
import { type Arena, openArena, type Target } from './arena.ts';
import { openWitness } from './witness.ts';

export type Outcome = Result & {
  /** Hostile requests or connections. */
  sent: number;
  /** Orders that the witness placed meanwhile. */
  purchases: number;
  /** Of the witness's requests. */
  p99Ms: number;
  /** The longest turn of the server's event loop. */
  stallMs: number;
  /** Most resident megabytes of the server. */
  peakMb: number;
};

export const emptyOutcome = (): Outcome => ({ sent: 0, purchases: 0, p99Ms: 0, stallMs: 0, peakMb: 0, faults: [] });

/**
 * What must hold during every attack. The short form runs beside other tests on the same cores: its times are only those
 * that no neighbour explains.
 */
const bounds = {
  /** The longest time in which the server answers nobody. */
  stallMs: { short: 4_000, long: 1_500 },
  witnessP99Ms: { short: 6_000, long: 2_000 },
  /** Resident megabytes above those before the attack. */
  growthMb: 300,
} as const;

/** What one attack may take on one server. */
const longestMs = { short: 45_000, long: 90_000 } as const;

/** One attack on one server. */
export type Battle = {
  arena: Arena;
  target: Target;
  size: Size;
  /** A figure by the size of the run. */
  of(figure: { short: number; long: number }): number;
  sent(count: number): void;
  fault(text: string): void;
  progress(line: string): void;
};

export type Attack = {
  name: string;
  about: string;
  /** Whether it concerns the transport: then both are attacked in the short form, too. */
  transports: 'each' | 'any';
  /** Most of the attack is waiting: both transports are attacked at once. */
  waits?: boolean;
  /** Other than `bounds.growthMb`. */
  growthMb?: number;
  run(battle: Battle): Promise<void>;
};

/** Faults that are told of one attack on one server. */
const toldFaults = 12;

async function fight(attack: Attack, target: Target, arena: Arena, ground: Ground): Promise<Outcome> {
  const { size } = ground;
  const outcome = emptyOutcome();
  const faults: string[] = [];
  const battle: Battle = {
    ...{ arena, target, size },
    of: (figure) => figure[size],
    sent(count) {
      outcome.sent += count;
    },
    fault: (text) => void faults.push(text),
    progress: (line) => ground.progress(`${target.name}: ${line}`),
  };
  const stallOf = async () => (await target.metric('nodejs_eventloop_lag_max_seconds')) * 1000;
  if (target.ended() !== null) {
    outcome.faults.push(`${target.name}: the server has ended with ${target.ended()} before this attack`);
    return outcome;
  }
  // Reading resets it.
  await stallOf();
  const before = target.residentMb();
  const witness = openWitness(arena, target);
  const sampling = setInterval(() => {
    outcome.peakMb = Math.max(outcome.peakMb, target.residentMb());
  }, 50);
  try {
    // The witness is at work before the attack begins.
    await sleep(200);
    const cancel = new AbortController();
    const late = sleep(longestMs[size], undefined, { signal: cancel.signal }).then(
      () => battle.fault(`the attack is not over after ${longestMs[size] / 1000} s`),
      () => {},
    );
    const run = attack.run(battle).catch((error: Error) => battle.fault(`the attack ended early: ${error.stack}`));
    await Promise.race([run, late]);
    cancel.abort();
    outcome.stallMs = Math.round(
      await stallOf().catch((error: Error) => {
        battle.fault(`/metrics does not answer after the attack: ${error.message}`);
        return 0;
      }),
    );
  } finally {
    clearInterval(sampling);
  }
  const { purchases, p99Ms, faults: told } = await witness.end();
  outcome.purchases = purchases;
  outcome.p99Ms = Math.round(p99Ms);
  outcome.peakMb = Math.round(outcome.peakMb);
  faults.push(...told);
  const grown = outcome.peakMb - before;
  if (outcome.stallMs > bounds.stallMs[size])
    faults.push(`the event loop stood still for ${outcome.stallMs} ms (at most ${bounds.stallMs[size]})`);
  if (p99Ms > bounds.witnessP99Ms[size])
    faults.push(`the witness waited ${outcome.p99Ms} ms at p99 (at most ${bounds.witnessP99Ms[size]})`);
  const { growthMb = bounds.growthMb } = attack;
  if (grown > growthMb)
    faults.push(`the server grew by ${Math.round(grown)} MB to ${outcome.peakMb} (at most ${growthMb})`);
  if (target.ended() !== null) faults.push(`the server ended with ${target.ended()}`);
  outcome.faults = faults.slice(0, toldFaults).map((text) => `${target.name}: ${text}`);
  if (faults.length > toldFaults) outcome.faults.push(`${target.name}: ${faults.length - toldFaults} more`);
  ground.progress(`${target.name}: ${outcome.sent} sent, ${purchases} purchases meanwhile, p99 ${outcome.p99Ms} ms`);
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

/** An attack as a scenario: on both servers, with a witness on each. */
export function scenarioOf(attack: Attack): Scenario<Outcome> {
  return {
    name: attack.name,
    about: attack.about,
    async run(ground) {
      const arena = await openArena(ground.clusterUrl);
      const [first] = arena.targets;
      const targets = attack.transports === 'any' && ground.size === 'short' ? [first] : arena.targets;
      const on = (target: Target) => fight(attack, target, arena, ground);
      if (attack.waits) return worst(await Promise.all(targets.map(on)));
      const outcomes: Outcome[] = [];
      for (const target of targets) outcomes.push(await on(target));
      return worst(outcomes);
    },
  };
}
