import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '@tradepost/testing/client';
import type { Instance, TestShop } from './test-shop.ts';

/** A request of a shopper, of staff or of a payment provider, or a job. It runs on the instance that it gets. */
export type Action = (at: Instance) => Promise<Answer | undefined>;
export type Race = {
  first: Action;
  second: Action;
  /** Checks the result and returns the faults. `answers` are in the order of `first` and `second`. */
  faults(answers: [Answer | undefined, Answer | undefined]): Promise<string[]>;
};
/** Two use cases that contend for the same rows. */
export type Pair = {
  name: string;
  /** Creates new rows for each round. */
  setUp(testShop: TestShop): Promise<Race>;
  /** Whether to repeat the rounds with the roles exchanged. Default true; false where both actions are equal. */
  bothWays?: boolean;
  /** How long the first action stays paused. Less than the default where the second action waits without a lock. */
  patienceMs?: number;
};

export type RaceResult = { rounds: number; requests: number; refused: number; held: string[]; faults: string[] };

/** More statements than any use case has. */
const maxStatements = 40;
/** Time for the second action to end or to reach a lock before the first action continues. */
const patienceMs = 250;

/** Whether a statement of this database waits for a lock. */
async function isLockWaiting({ sql }: TestShop): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and cardinality(pg_blocking_pids(pid)) > 0 limit 1`;
  return rows.length > 0;
}

/** Resolves when the second action has ended, waits for a lock, or has used its time. */
async function endedOrWaiting(testShop: TestShop, second: Promise<unknown>, ms = patienceMs): Promise<void> {
  let ended = false;
  const done = second.finally(() => {
    ended = true;
  });
  done.catch(() => {});
  for (const end = performance.now() + ms; !ended && performance.now() < end; ) {
    if (await isLockWaiting(testShop)) return;
    await Promise.race([sleep(5), done.catch(() => {})]);
  }
}

async function round(
  testShop: TestShop,
  pair: Pair,
  at: number,
  swapped: boolean,
): Promise<{ held: string | null; answers: (Answer | undefined)[]; faults: string[] }> {
  const race = await pair.setUp(testShop);
  const [leader, follower] = swapped ? [race.second, race.first] : [race.first, race.second];
  const gate = testShop.databaseProxy.pauseBefore(at);
  const leading = leader(testShop.first);
  const ended = leading.then(
    () => null,
    () => null,
  );
  const held = await Promise.race([gate.reached, ended]);
  const following = follower(testShop.second);
  following.catch(() => {});
  if (held !== null) await endedOrWaiting(testShop, following, pair.patienceMs);
  gate.go();
  const [lead, follow] = await Promise.all([leading, following]);
  const faults = await race.faults(swapped ? [follow, lead] : [lead, follow]);
  const where = `${swapped ? 'second' : 'first'} held before statement ${at}: ${held?.slice(0, 80)}`;
  return { held, answers: [lead, follow], faults: faults.map((fault) => `${fault} (${where})`) };
}

/**
 * Pauses one use case before each of its statements, the commit included, one statement per round. The other use case
 * meanwhile runs to its end or to a lock. The last round pauses nothing. Then the roles are exchanged.
 */
export async function runPair(testShop: TestShop, pair: Pair): Promise<RaceResult> {
  const raced: RaceResult = { rounds: 0, requests: 0, refused: 0, held: [], faults: [] };
  for (const swapped of pair.bothWays === false ? [false] : [false, true]) {
    for (let at = 1; ; at += 1) {
      if (at > maxStatements) throw new Error(`${pair.name}: more than ${maxStatements} statements`);
      const { held, answers, faults } = await round(testShop, pair, at, swapped);
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
