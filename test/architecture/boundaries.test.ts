import { expect, test } from 'vitest';
import { boundaryFaults } from './boundaries.ts';

test('packages use only what they declare, through the front door, in one direction', async () => {
  expect(await boundaryFaults()).toEqual([]);
});
