import { cleanUp } from '@tradepost/testing/processes/cleanup';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { afterwards } from './afterwards.ts';
import { attacks } from './attacks.ts';
import { openTestServers } from './test-servers.ts';

/** The short form of `npm run hostile`. */
beforeAll(() => openTestServers(inject('clusterUrl')), 120_000);
afterAll(cleanUp);

describe('a server under attack continues to sell', () => {
  test.each([...attacks, afterwards])(
    '$name: $about',
    async ({ run }) => {
      const outcome = await run({ size: 'short', clusterUrl: inject('clusterUrl'), progress: () => {} });
      expect(outcome.faults).toEqual([]);
    },
    // Twice the longest time of an attack, as some attack both servers one after the other, and the load around them.
    300_000,
  );
});
