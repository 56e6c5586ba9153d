import { auditViolations } from '@tradepost/testing/audit-violations';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { breakDeed, deeds } from './breaks.ts';
import { runPair } from './race.ts';
import { pairs } from './race-pairs.ts';
import { openStage, type Stage } from './stage.ts';

/** Two things happen to one order, one product, one account: whichever statement the first one is at, one of them wins. */
let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('clusterUrl'));
});
afterAll(() => stage?.close());

describe('held before each of its statements while another one runs', () => {
  test.each(pairs)('$name', async (pair) => {
    const { faults, held } = await runPair(stage, pair);
    expect(faults).toEqual([]);
    expect(held.length, 'statements at which it was held').toBeGreaterThan(1);
  });
});

describe('repeated with its key after the connection to the database broke at each of its statements', () => {
  test.each(deeds)(
    '$name: happens once',
    async (deed) => {
      const { faults, held } = await breakDeed(stage, deed, 'short');
      expect(faults).toEqual([]);
      expect(held.length, 'statements at which it broke').toBeGreaterThan(4);
    },
    120_000,
  );
});

test('after all this the books are right', async () => {
  expect(await auditViolations(stage.sql)).toEqual([]);
});
