import { breakWrite, writes } from './broken-connections.ts';
import { type RaceResult, runPair } from './race.ts';
import { pairs } from './race-pairs.ts';
import { audit, type Environment, emptyOutcome, type Outcome, type Scenario, withoutWorker } from './scenario.ts';
import { openTestShop, type TestShop } from './test-shop.ts';

/** Runs `race` for every item, with all audits after each. */
async function each<T extends { name: string }>(
  environment: Environment,
  list: readonly T[],
  race: (testShop: TestShop, one: T) => Promise<RaceResult>,
): Promise<Outcome> {
  const outcome = emptyOutcome();
  const testShop = await openTestShop(environment.clusterUrl);
  for (const one of list) {
    const { rounds, requests, refused, faults } = await race(testShop, one);
    outcome.rounds += rounds;
    outcome.requests += requests;
    outcome.refused += refused;
    outcome.faults.push(...faults);
    await audit(testShop.sql, outcome, withoutWorker);
    environment.progress(`${one.name}: ${rounds} rounds`);
  }
  outcome.confirmed = outcome.requests - outcome.refused;
  await testShop.close();
  return outcome;
}

export const raceScenarios: readonly Scenario[] = [
  {
    name: 'races',
    about: `${pairs.length} contended pairs: one use case is paused before each of its statements while the other one runs`,
    run: (environment) => each(environment, pairs, runPair),
  },
  {
    name: 'broken-connections',
    about:
      'the connection to the database breaks at each statement of a write; the client repeats the write with its key',
    run: (environment) => each(environment, writes, (testShop, write) => breakWrite(testShop, write, environment.size)),
  },
];
