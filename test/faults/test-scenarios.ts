import { cleanUp } from '@tradepost/testing/processes/cleanup';
import { afterAll, describe, expect, inject, test } from 'vitest';
import type { Scenario } from './scenario.ts';

/** The short form of these scenarios of `npm run faults`. */
export function testScenarios(scenarios: readonly Scenario[]): void {
  afterAll(cleanUp);

  describe('no order, payment or stock is lost or doubled', () => {
    test.each(scenarios)(
      '$name: $about',
      async ({ run }) => {
        const outcome = await run({ size: 'short', clusterUrl: inject('clusterUrl'), progress: () => {} });
        expect(outcome.faults).toEqual([]);
      },
      // Only ends a test that hangs. A scenario takes up to 15 s on an idle machine.
      240_000,
    );
  });
}
