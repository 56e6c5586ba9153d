import { setTimeout as sleep } from 'node:timers/promises';
import { modules } from '@tradepost/app';
import { openTokens } from '@tradepost/identity';
import type { Module } from '@tradepost/module';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineRoute } from './routing/route.ts';

let inside = 0;
let most = 0;
async function work() {
  inside += 1;
  most = Math.max(most, inside);
  await sleep(20);
  inside -= 1;
  return { ok: true };
}
const shared = { tag: 'Test', summary: 'A slow list', response: z.object({ ok: z.boolean() }) } as const;
const slow: Module = {
  name: 'slow',
  needs: ['identity'],
  open: () => ({
    routes: () => [
      defineRoute({ ...shared, method: 'GET', path: '/admin/api/slow', auth: 'staff', handle: work }),
      defineRoute({ ...shared, method: 'GET', path: '/admin/api/slower', auth: 'staff', handle: work }),
      defineRoute({ ...shared, method: 'GET', path: '/api/v1/quick', auth: 'public', handle: () => ({ ok: true }) }),
    ],
  }),
};

let database: TestDatabase;
let shop: ModuleShop;
beforeAll(async () => {
  database = await cloneDatabase();
  shop = await openModuleShop(database, [...modules, slow]);
});
afterAll(async () => {
  await shop?.close();
  await database?.drop();
});

test('reads of staff take at most half of the connections, too many are answered with 503, and shoppers do not wait', async () => {
  const tokens = await openTokens(shop.runtime);
  const token = await tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const reads = Array.from({ length: 300 }, (_, n) =>
    shop.call('GET', n % 2 ? '/admin/api/slow' : '/admin/api/slower', { token }),
  );
  const ended = { reads: 0 };
  for (const read of reads) void read.then(() => (ended.reads += 1));
  expect((await shop.call('GET', '/api/v1/quick')).code).toBe(0);
  expect(ended.reads).toBeLessThan(300);
  const answers = await Promise.all(reads);
  const refused = answers.filter(({ status }) => status === 503);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(300 - refused.length);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]!.headers.get('retry-after')).toBe('1');
  expect(most).toBeLessThanOrEqual(Math.max(1, Math.floor(shop.runtime.config.databasePool / 2)));
  expect((await shop.call('GET', '/admin/api/slow', { token })).code).toBe(0);
  await tokens.close();
});
