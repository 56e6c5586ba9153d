import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '@tradepost/testing/client';
import type { Instance, Stage } from './stage.ts';

/** Something that a customer, a member of staff, a gateway or a job does, on whichever instance it is given. */
export type Doing = (at: Instance) => Promise<Answer | undefined>;
export type Race = {
  first: Doing;
  second: Doing;
  /** What must be true afterwards; answers what is not. In the order of `first` and `second`. */
  faults(answers: [Answer | undefined, Answer | undefined]): Promise<string[]>;
};
/** Two use cases that contend for something. */
export type Pair = {
  name: string;
  /** Rows of its own for each round. `turned`: the roles of first and second are exchanged by the caller. */
  setUp(stage: Stage): Promise<Race>;
  /** Also with the second one being held. Pointless where both are the same. */
  bothWays?: boolean;
  /** Less than usual, where the second one waits without a lock. */
  patienceMs?: number;
};

export type Raced = { rounds: number; requests: number; refused: number; held: string[]; faults: string[] };

/** More statements than any use case has. */
const most = 40;
/** What the second one gets to end or to come to a lock, before the first one goes on. */
const patienceMs = 250;

/** Whether some statement of this database waits for a lock that another one holds. */
async function somebodyWaits({ sql }: Stage): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and cardinality(pg_blocking_pids(pid)) > 0 limit 1`;
  return rows.length > 0;
}

/** Resolves when the second one has ended, waits for a lock, or has had its time: the first one may then go on. */
async function endedOrWaiting(stage: Stage, second: Promise<unknown>, ms = patienceMs): Promise<void> {
  let ended = false;
  const done = second.finally(() => {
    ended = true;
  });
  done.catch(() => {});
  for (const end = performance.now() + ms; !ended && performance.now() < end; ) {
    if (await somebodyWaits(stage)) return;
    await Promise.race([sleep(5), done.catch(() => {})]);
  }
}

async function round(
  stage: Stage,
  pair: Pair,
  at: number,
  turned: boolean,
): Promise<{ held: string | null; answers: (Answer | undefined)[]; faults: string[] }> {
  const race = await pair.setUp(stage);
  const [leads, follows] = turned ? [race.second, race.first] : [race.first, race.second];
  const gate = stage.wire.pauseBefore(at);
  const leading = leads(stage.first);
  const ended = leading.then(
    () => null,
    () => null,
  );
  const held = await Promise.race([gate.reached, ended]);
  const following = follows(stage.second);
  following.catch(() => {});
  if (held !== null) await endedOrWaiting(stage, following, pair.patienceMs);
  gate.go();
  const [lead, follow] = await Promise.all([leading, following]);
  const faults = await race.faults(turned ? [follow, lead] : [lead, follow]);
  const told = `${turned ? 'second' : 'first'} held before statement ${at}: ${held?.slice(0, 80)}`;
  return { held, answers: [lead, follow], faults: faults.map((fault) => `${fault} (${told})`) };
}

/**
 * Holds one use case before each of its statements in turn, its commit included, while the other one runs to its end or to a
 * lock; the last round holds nothing, one after the other. Then the same with the roles exchanged.
 */
export async function runPair(stage: Stage, pair: Pair): Promise<Raced> {
  const raced: Raced = { rounds: 0, requests: 0, refused: 0, held: [], faults: [] };
  for (const turned of pair.bothWays === false ? [false] : [false, true]) {
    for (let at = 1; ; at += 1) {
      if (at > most) throw new Error(`${pair.name}: more than ${most} statements`);
      const { held, answers, faults } = await round(stage, pair, at, turned);
      raced.rounds += 1;
      raced.requests += 2;
      raced.refused += answers.filter((answer) => answer && answer.code !== 0).length;
      for (const answer of answers)
        if (answer && answer.status >= 500)
          faults.push(`HTTP ${answer.status} ${answer.message} (held before statement ${at}: ${held?.slice(0, 80)})`);
      raced.faults.push(...faults.map((fault) => `${pair.name}: ${fault}`));
      if (held === null) break;
      raced.held.push(held);
    }
  }
  return raced;
}
