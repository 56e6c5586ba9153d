import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

let shop: Shop;
let folder: string;
beforeAll(async () => {
  shop = await openShop();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-decor-'));
});
afterAll(async () => {
  await shop?.close();
  await rm(folder, { recursive: true, force: true });
});
const decor = (...args: string[]) =>
  runCommandInProcess(['decor', ...args], { env: { DATABASE_URL: shop.database.url } });
const shown = async () => (await shop.call('GET', '/api/v1/index/decor')).data.components;
const page = (height: number) => [{ type: 'spacer', props: { height } }];

test('an operator imports, publishes, exports and rolls back, and a running server shows it', async () => {
  const file = join(folder, 'page.json');
  for (const height of [1, 2]) {
    await writeFile(file, JSON.stringify(page(height)));
    expect(await decor('import', 'index', file)).toMatchObject({ code: 0 });
    expect((await decor('publish', 'index', '--json')).stdout).toContain('"is_published": true');
    await vi.waitFor(async () => expect(await shown()).toEqual(page(height)), { timeout: 3_000 });
  }
  expect(JSON.parse((await decor('export', 'index')).stdout)).toEqual(page(2));
  const { publications } = JSON.parse((await decor('list', 'index', '--json')).stdout);
  expect((await decor('rollback', 'index', String(publications[1].id))).stdout).toContain('is live');
  await vi.waitFor(async () => expect(await shown()).toEqual(page(1)), { timeout: 3_000 });
  expect((await decor('list', 'index')).stdout).toMatch(/default .*live .*yes/);
});

test('invalid content, and a publication or variant that does not exist, are reported', async () => {
  const file = join(folder, 'bad.json');
  await writeFile(file, JSON.stringify([{ type: 'banner', props: { link: 'javascript:x' } }]));
  const bad = await decor('import', 'index', file);
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('components[0].props.link')]);
  expect((await decor('rollback', 'index', '999')).code).toBe(1);
  expect((await decor('rollback', 'index', 'x')).code).toBe(2);
  expect((await decor('export', 'index', '--variant', 'gone')).stderr).toContain('tradepost decor list index');
});

test('a removed page is gone with its history, shoppers get an empty one, and the place is free again', async () => {
  const file = join(folder, 'gone.json');
  await writeFile(file, JSON.stringify(page(3)));
  expect((await decor('import', 'promo', file)).code).toBe(0);
  expect((await decor('publish', 'promo')).code).toBe(0);
  const live = async () => (await shop.call('GET', '/api/v1/decor/promo')).data.components;
  await vi.waitFor(async () => expect(await live()).toEqual(page(3)), { timeout: 3_000 });
  const pages = async () => JSON.parse((await decor('list', '--json')).stdout).pages;
  expect(await pages()).toMatchObject([{ page_key: 'index' }, { page_key: 'promo', variants: 1, live: 'default' }]);
  expect((await decor('remove', 'promo')).stderr).toContain('--yes');
  expect(await pages()).toHaveLength(2);
  expect(JSON.parse((await decor('remove', 'promo', '--yes', '--json')).stdout)).toEqual({
    page_key: 'promo',
    removed: true,
  });
  await vi.waitFor(async () => expect(await live()).toEqual([]), { timeout: 3_000 });
  expect(await pages()).toMatchObject([{ page_key: 'index' }]);
  expect((await decor('remove', 'promo', '--yes')).stderr).toContain('Nothing was saved');
  expect((await decor('list')).stdout).toContain('1 pages');
});
