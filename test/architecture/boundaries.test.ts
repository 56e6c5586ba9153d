import { expect, test } from 'vitest';
import { boundaryFaults, mapFaults } from './boundaries.ts';

test('packages import only declared packages, through index.ts, in one direction', async () => {
  expect(await boundaryFaults()).toEqual([]);
});

test('a package that depends on a package below it in the map is a fault, and so is a package that the map lacks', () => {
  const map = ['@tradepost/core', '@tradepost/http', '@tradepost/orders'];
  const faultsOf = (name: string, ...declared: string[]) => mapFaults(map, [{ name, declared: new Set(declared) }]);
  expect(faultsOf('@tradepost/orders', '@tradepost/core', '@tradepost/http', 'zod')).toEqual([]);
  expect(faultsOf('@tradepost/http', '@tradepost/orders')).toHaveLength(1);
  expect(faultsOf('@tradepost/suppliers')).toHaveLength(1);
});
