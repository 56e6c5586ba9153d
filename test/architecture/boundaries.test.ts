import { expect, test } from 'vitest';
import { boundaryFaults } from './boundaries.ts';

test('packages import only declared packages, through index.ts, in one direction', async () => {
  expect(await boundaryFaults()).toEqual([]);
});
