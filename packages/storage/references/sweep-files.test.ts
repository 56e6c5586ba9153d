import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { modules } from '@tradepost/app';
import { staticEntriesOf } from '@tradepost/module';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDrivers } from '../drivers/open-drivers.ts';
import { ownDrivers } from '../drivers/own-drivers.ts';
import { uploadFile } from '../testing/forms.ts';
import { cleanUp } from '../uploads/clean-up.ts';
import { fileReferences } from './file-references.ts';
import { sweepFiles } from './sweep-files.ts';

let shop: Shop;
let token: string;
let userId: number;
const entries = staticEntriesOf(modules)(fileReferences);
const deps = () => ({ runtime: shop.server.runtime, drivers: openDrivers(shop.server.runtime, ownDrivers) });

beforeAll(async () => {
  shop = await openShop();
  const shopper = await shop.shopper();
  token = shopper.token;
  userId = shopper.id;
});
afterAll(() => shop?.close());
beforeEach(async () => {
  await shop.database.sql`delete from storage.files`;
  await shop.database.sql`delete from storage.reference_names`;
});

/** Uploads a file that the sweep has found without a reference for longer than it is kept. */
async function oldFile(): Promise<{ path: string; url: string }> {
  const { data } = await uploadFile(shop, token);
  await shop.database
    .sql`update storage.files set unreferenced_since = now() - interval '31 days' where path = ${data.path}`;
  return data;
}
const kept = async (paths: readonly string[]) =>
  await Promise.all(
    paths.map(async (path) => {
      const [row] = await shop.database.sql`select id from storage.files where path = ${path}`;
      const onDisk = await access(join(shop.server.runtime.config.data, 'uploads', path)).then(
        () => true,
        () => false,
      );
      expect(onDisk, `${path}: its row and its file belong together`).toBe(row !== undefined);
      return onDisk;
    }),
  );

test('a file that any package uses stays, and one without a reference is removed after its days', async () => {
  const { sql } = shop.database;
  const names = [
    'cover',
    'picture',
    'detail',
    'translation',
    'icon',
    'avatar',
    'line',
    'logo',
    'draft',
    'published',
    'unused',
    'young',
  ];
  const files = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await oldFile()] as const)));
  const local = (name: string) => `/uploads/${files[name]!.path}`;
  const { id, sku_ids } = await insertProduct(shop.database);
  const blocks = (src: string) => sql.json({ version: 1, blocks: [{ type: 'html', text: `<img src="${src}">` }] });
  await sql`
    update catalog.products set cover = ${local('cover')}, detail = ${blocks(files.detail!.url)},
      translations = ${sql.json({ en: { detail: { blocks: [{ url: `/api/v1/uploads/${files.translation!.path}` }] } } })}
    where id = ${id}`;
  await sql`insert into catalog.product_images (product_id, url) values (${id}, ${local('picture')})`;
  await sql`insert into catalog.categories (name, icon) values ('Mugs', ${local('icon')})`;
  await sql`update identity.shoppers set avatar = ${local('avatar')} where id = ${userId}`;
  await sql`
    insert into orders.order_items (order_id, product_id, sku_id, title, cover, price, qty, payable_amount)
    values (1, ${id}, ${sku_ids[0]!}, 'Mug', ${local('line')}, 1, 1, 1)`;
  const admin = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  // A later draft replaces the published one, which a rollback can show again.
  for (const name of ['published', 'draft']) {
    const body = { components: [{ type: 'image_ad', props: { url: files[name]!.url } }] };
    await shop.call('PUT', '/admin/api/decor/index', { token: admin, body });
    if (name === 'published') await shop.call('POST', '/admin/api/decor/index/publish', { token: admin });
  }
  // An operator may paste the address of a CDN that the shop does not know.
  await shop.server.runtime.settings.set('site.site_logo', `https://cdn.example/${files.logo!.path}`);
  await sql`update storage.files set unreferenced_since = null where path = ${files.young!.path}`;

  const tried = await sweepFiles(deps(), entries, { dryRun: true });
  expect(tried.expired.map(({ path }) => path)).toEqual([files.unused!.path]);
  expect(await kept([files.unused!.path])).toEqual([true]);

  const swept = await sweepFiles(deps(), entries);
  expect(swept).toMatchObject({ outcome: 'done', examined: names.length, unreferenced: 2, bytes: tried.bytes });
  expect(await kept(names.map((name) => files[name]!.path))).toEqual(names.map((name) => name !== 'unused'));
  expect((await fetch(files.unused!.url)).status).toBe(404);

  // The days of the young file begin now, and those of a file that is used again begin anew.
  const since = await sql`select path from storage.files where unreferenced_since is not null`;
  expect(since).toEqual([{ path: files.young!.path }]);
  expect((await sweepFiles(deps(), entries)).expired).toEqual([]);
});

test('nothing is removed while a package that has used files is switched off', async () => {
  const { path } = await oldFile();
  await sweepFiles(deps(), entries, { dryRun: true });
  const without = entries.filter(({ name }) => name !== 'catalog');
  expect(await sweepFiles(deps(), without)).toMatchObject({ outcome: 'blocked', missing: ['catalog'] });
  expect(await kept([path])).toEqual([true]);
});

test('nothing is removed when the operator keeps files for ever', async () => {
  const { path } = await oldFile();
  await shop.server.runtime.settings.set('storage.unreferenced_days', 0);
  expect((await sweepFiles(deps(), entries)).outcome).toBe('switched_off');
  await shop.server.runtime.settings.unset('storage.unreferenced_days');
  expect(await kept([path])).toEqual([true]);
});

test('two sweeps at once remove each file once, and a failed driver loses nothing', async () => {
  const paths = (await Promise.all(Array.from({ length: 20 }, oldFile))).map(({ path }) => path);
  await shop.database.sql`update storage.files set driver = 'elsewhere' where path = ${paths[0]!}`;
  const results = await Promise.allSettled([sweepFiles(deps(), entries), sweepFiles(deps(), entries)]);
  expect(results.some(({ status }) => status === 'rejected')).toBe(true);
  const left = await shop.database.sql`select path, state from storage.files`;
  expect(left).toEqual([{ path: paths[0]!, state: 'removing' }]);
  await shop.database.sql`update storage.files set driver = 'local', changed_at = now() - interval '1 day'`;
  expect(await cleanUp(deps())).toEqual({ incoming: 0, files: 0 });
  expect(await kept(paths)).toEqual(paths.map((path) => path === paths[0]));
  expect((await sweepFiles(deps(), entries)).expired).toMatchObject([{ path: paths[0] }]);
  expect(await kept(paths)).toEqual(paths.map(() => false));
});

test('a file that is used again after its removal has failed is kept', async () => {
  const { path, url } = await oldFile();
  const { sql } = shop.database;
  await sql`update storage.files set driver = 'elsewhere'`;
  await expect(sweepFiles(deps(), entries)).rejects.toThrow('elsewhere');
  await insertProduct(shop.database);
  await sql`update catalog.products set cover = ${`/uploads/${path}`}`;
  await sql`update storage.files set driver = 'local', changed_at = now() - interval '1 day'`;
  await cleanUp(deps());
  expect((await sweepFiles(deps(), entries)).expired).toEqual([]);
  expect(await sql`select state, unreferenced_since from storage.files`).toEqual([
    { state: 'stored', unreferenced_since: null },
  ]);
  expect((await fetch(url)).status).toBe(200);
});

test('the command shows what it would remove, removes it, and says why it does not', async () => {
  const { path } = await oldFile();
  const run = (...args: string[]) =>
    runCommandInProcess([
      'storage',
      'sweep',
      '--database-url',
      shop.database.url,
      '--data',
      shop.server.runtime.config.data,
      ...args,
    ]);
  const dry = await run('--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.stdout).toContain(path);
  expect(dry.stdout).toContain('1 of them would be removed');
  await shop.database.sql`insert into storage.reference_names (name) values ('suppliers')`;
  const blocked = await run();
  expect(blocked.code).toBe(1);
  expect(blocked.stdout).toContain('suppliers');
  const done = await run('--forget', 'suppliers', '--json');
  expect(done.code).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ outcome: 'done', total: 1, expired: [{ path }] });
  expect(await kept([path])).toEqual([false]);
});
