import { cleanUp } from '@tradepost/testing/processes/cleanup';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { scenarios } from './scenarios.ts';

/** The short form of `npm run faults`. */
afterAll(cleanUp);

describe('no order, payment or stock is lost or doubled', () => {
  test.each(scenarios)(
    '$name: $about',
    async ({ run }) => {
      const outcome = await run({ size: 'short', clusterUrl: inject('clusterUrl'), progress: () => {} });
      expect(outcome.faults).toEqual([]);
    },
    60_000,
  );
});
