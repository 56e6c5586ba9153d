import { breakDeed, deeds } from './breaks.ts';
import { type Raced, runPair } from './race.ts';
import { pairs } from './race-pairs.ts';
import { audit, type Ground, nothingYet, type Outcome, type Scenario, withoutWorker } from './scenario.ts';
import { openStage, type Stage } from './stage.ts';

/** The books are looked at after each of them. */
async function each<T extends { name: string }>(
  ground: Ground,
  list: readonly T[],
  race: (stage: Stage, one: T) => Promise<Raced>,
): Promise<Outcome> {
  const outcome = nothingYet();
  const stage = await openStage(ground.clusterUrl);
  for (const one of list) {
    const { rounds, requests, refused, faults } = await race(stage, one);
    outcome.rounds += rounds;
    outcome.requests += requests;
    outcome.refused += refused;
    outcome.faults.push(...faults);
    await audit(stage.sql, outcome, withoutWorker);
    ground.progress(`${one.name}: ${rounds} rounds`);
  }
  outcome.confirmed = outcome.requests - outcome.refused;
  await stage.close();
  return outcome;
}

export const raceScenarios: readonly Scenario[] = [
  {
    name: 'races',
    about: `${pairs.length} contended pairs, one held before each of its statements while the other one runs`,
    run: (ground) => each(ground, pairs, runPair),
  },
  {
    name: 'broken-connections',
    about: 'the connection to the database broken at each statement of a write, which is repeated with its key',
    run: (ground) => each(ground, deeds, (stage, deed) => breakDeed(stage, deed, ground.size)),
  },
];
