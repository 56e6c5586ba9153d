import { auditViolations } from '@tradepost/testing/audit-violations';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { breakWrite, writes } from './broken-connections.ts';
import { runPair } from './race.ts';
import { pairs } from './race-pairs.ts';
import { openTestShop, type TestShop } from './test-shop.ts';

/** Two use cases change the same order, product or account. At every statement of the first one, exactly one outcome is valid. */
let testShop: TestShop;
beforeAll(async () => {
  testShop = await openTestShop(inject('clusterUrl'));
});
afterAll(() => testShop?.close());

describe('a use case paused before each of its statements while another one runs', () => {
  test.each(pairs)('$name', async (pair) => {
    const { faults, held } = await runPair(testShop, pair);
    expect(faults).toEqual([]);
    expect(held.length, 'statements at which it was paused').toBeGreaterThan(1);
  });
});

describe('a write repeated with its key after the database connection broke at each of its statements', () => {
  test.each(writes)(
    '$name: happens once',
    async (write) => {
      const { faults, held } = await breakWrite(testShop, write, 'short');
      expect(faults).toEqual([]);
      expect(held.length, 'statements at which it broke').toBeGreaterThan(4);
    },
    120_000,
  );
});

test('all audits are clean afterwards', async () => {
  expect(await auditViolations(testShop.sql)).toEqual([]);
});
