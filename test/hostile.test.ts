import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { cleanUp } from './bench/cleanup.ts';
import { afterwards } from './hostile/afterwards.ts';
import { openArena } from './hostile/arena.ts';
import { attacks } from './hostile/attacks.ts';

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
