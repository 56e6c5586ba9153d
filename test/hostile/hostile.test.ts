import { cleanUp } from '@tradepost/testing/processes/cleanup';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { afterwards } from './afterwards.ts';
import { openArena } from './arena.ts';
import { attacks } from './attacks.ts';

/** The short form of `npm run hostile`. */
beforeAll(() => openArena(inject('clusterUrl')), 120_000);
afterAll(cleanUp);

describe('a server that is attacked goes on selling', () => {
  test.each([...attacks, afterwards])(
    '$name: $about',
    async ({ run }) => {
      const outcome = await run({ size: 'short', clusterUrl: inject('clusterUrl'), progress: () => {} });
      expect(outcome.faults).toEqual([]);
    },
    60_000,
  );
});
