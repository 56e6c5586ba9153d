import { createStaff } from '@tradepost/identity';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { selectNewestAnnouncements } from './announcement-store.ts';

/** Announcements for the staff, and the current shop. */
let shop: Shop;
let manager: string;
let clerk: string;
beforeAll(async () => {
  shop = await openShop();
  manager = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['system:config'] });
  clerk = await shop.server.tokens.issue({ role: 'admin', id: 2, perms: ['order:view'] });
});
afterAll(() => shop?.close());
beforeEach(() => shop.database.sql`truncate backoffice.announcements`);

const call = (method: string, path: string, body?: unknown, token = manager) =>
  shop.call(method, `/admin/api${path}`, { token, body });
const add = async (given: Record<string, unknown> = {}) =>
  (await call('POST', '/announcements', { title: 'Stock count', content: 'On Friday', ...given })).data;
const titles = async (query = '', token = clerk) =>
  (await call('GET', `/announcements${query}`, undefined, token)).data.list.map((row: { title: string }) => row.title);
const hour = (n: number) => new Date(Date.now() + n * 3_600_000).toISOString();

describe('staff', () => {
  test('every administrator reads visible announcements, newest first, with the fields of the contract', async () => {
    await add({ title: 'First' });
    await add({ title: 'Second', content: 'One\nTwo <b>x</b>', type: 'urgent' });
    const { data } = await call('GET', '/announcements?page=&size=', undefined, clerk);
    expect(data).toMatchObject({ total: 2, page: 1, size: 20 });
    for (const row of data.list) expectFields(row, 'id i, title s, content s, type s, created_at t');
    expect(data.list[0]).toMatchObject({ title: 'Second', content: 'One\nTwo <b>x</b>', type: 'urgent' });
    expect(data.list[1].type).toBe('normal');
    expect((await call('GET', '/announcements?page=9', undefined, clerk)).data).toMatchObject({ list: [], total: 2 });
    const newest = await selectNewestAnnouncements(shop.database.sql, 1);
    expect(newest.map(({ title }) => title)).toEqual(['Second']);
  });

  test('a whole row that is sent back changes nothing; a withdrawn one is no longer listed or changed', async () => {
    const row = await add({ ends_at: hour(1) });
    expect((await call('PUT', `/announcements/${row.id}`, row)).data).toBeNull();
    const [same] = (await call('GET', '/announcements')).data.list;
    expect(same).toEqual({ ...row, updated_at: same.updated_at });
    expect((await call('PUT', `/announcements/${row.id}`, { title: 'New' })).code).toBe(0);
    expect(await titles()).toEqual(['New']);
    expect((await call('DELETE', `/announcements/${row.id}`)).data).toBeNull();
    expect(await titles()).toEqual([]);
    expect(await titles('?state=withdrawn', manager)).toEqual(['New']);
    for (const [method, body] of [['DELETE'], ['PUT', { title: 'x' }]] as const)
      expect((await call(method, `/announcements/${row.id}`, body)).code).toBe(404);
  });

  test('a scheduled announcement is visible between its times, which only managers see before', async () => {
    await add({ title: 'Later', starts_at: hour(1) });
    await add({ title: 'Over', starts_at: hour(-2), ends_at: hour(-1) });
    await add({ title: 'Now', starts_at: hour(-1), ends_at: hour(1) });
    expect(await titles()).toEqual(['Now']);
    expect(await titles('?state=scheduled', manager)).toEqual(['Later']);
    expect(await titles('?state=ended', manager)).toEqual(['Over']);
    expect(await titles('?state=all', manager)).toEqual(['Now', 'Over', 'Later']);
    expect((await call('GET', '/announcements?state=scheduled', undefined, clerk)).code).toBe(403);
  });

  test('wrong input names its field, and others than managers write nothing', async () => {
    const { id } = await add();
    const cases: [Record<string, unknown>, string][] = [
      [{ title: ' ' }, 'title'],
      [{ title: 'two\nlines' }, 'title'],
      [{ title: 'x'.repeat(201) }, 'title'],
      [{ content: '\u200b' }, 'content'],
      [{ content: 'x'.repeat(10_001) }, 'content'],
      [{ type: 'loud' }, 'type'],
      [{ starts_at: 'soon' }, 'starts_at'],
      [{ starts_at: hour(2), ends_at: hour(1) }, 'ends_at'],
    ];
    for (const [body, field] of cases)
      for (const [method, path] of [
        ['POST', '/announcements'],
        ['PUT', `/announcements/${id}`],
      ] as const)
        expect(await call(method, path, { title: 'x', content: 'x', ...body })).toMatchObject({
          code: 400,
          message: expect.stringContaining(field),
        });
    for (const [method, path] of [
      ['POST', '/announcements'],
      ['PUT', `/announcements/${id}`],
      ['DELETE', `/announcements/${id}`],
    ] as const)
      expect((await call(method, path, { title: 'x', content: 'x' }, clerk)).code).toBe(403);
    expect(await titles()).toEqual(['Stock count']);
  });

  test('the limit holds for parallel requests', async () => {
    await shop.database.sql`
      insert into backoffice.announcements (title, content) select 'x', 'x' from generate_series(1, 998)`;
    const body = { title: 'x', content: 'x' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('POST', '/announcements', body)));
    expect(answers.map(({ code }) => code).sort()).toEqual([0, 0, 409, 409, 409]);
  });
});

describe('tradepost announcements', () => {
  const run = async (args: string[], input = '') =>
    runCommandInProcess(['announcements', ...args], { env: { DATABASE_URL: shop.database.url }, input });

  test('create, edit, list and withdraw', async () => {
    const created = await run(['create', '--title', 'Holiday', '--content', '-', '--json'], 'Closed\nuntil Monday\n');
    const { id } = JSON.parse(created.stdout);
    expect(JSON.parse(created.stdout)).toMatchObject({ content: 'Closed\nuntil Monday', state: 'visible' });
    expect((await run(['edit', String(id), '--type', 'info'])).stdout).toContain('changed');
    expect(JSON.parse((await run(['list', '--json'])).stdout)).toMatchObject({
      total: 1,
      announcements: [{ id, title: 'Holiday', type: 'info' }],
    });
    expect((await run(['list'])).stdout).toContain('Holiday');
    expect(await run(['withdraw', String(id), '999'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('withdrawn: 1'),
    });
    expect(await titles()).toEqual([]);
  });

  test('wrong input ends with 2 and names the field, an unknown number with 1', async () => {
    expect(await run(['create', '--title', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('content'),
    });
    expect(await run(['create', '--title', '', '--content', 'x'])).toMatchObject({ code: 2 });
    expect((await run(['edit', '999', '--title', 'x'])).code).toBe(1);
    for (const args of [
      ['create', '--title', 'x', '--content', 'x'],
      ['edit', '1'],
    ])
      expect(await run([...args, '--starts-at', 'soon'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('starts_at'),
      });
  });

  test('are in the change log with the operator', async () => {
    const { sql } = shop.database;
    const { id } = JSON.parse((await run(['create', '--title', 'x', '--content', 'x', '--json'])).stdout);
    await run(['edit', String(id), '--type', 'info']);
    await run(['withdraw', String(id)]);
    const rows = await sql`
      select source, staff_id, actor_name <> '' as named, action, operation from change_log.changes
      where table_name = 'backoffice.announcements' and row_id = ${String(id)} order by id`;
    expect(rows).toEqual(
      (
        [
          ['create', 'insert'],
          ['edit', 'update'],
          ['withdraw', 'update'],
        ] as const
      ).map(([action, operation]) => ({
        ...{ source: 'cli', staff_id: null, named: true, action: `announcements ${action}`, operation },
      })),
    );
  });
});

test('the shop has its name, logo and owner, and the state of its designed pages', async () => {
  const { sql } = shop.database;
  await createStaff(sql, { username: 'boss', password: 'boss-secret' });
  const { data } = await call('GET', '/shops/current', undefined, clerk);
  expectFields(data, 'id i, name s, logo s, owner s, decor_status s');
  await shop.server.runtime.settings.setMany(
    { 'site.shop_name': 'Kiln', 'site.site_logo': '/uploads/logo.png' },
    { by: 'x' },
  );
  const answer = (await call('GET', '/shops/current', undefined, clerk)).data;
  expect(answer).toMatchObject({
    id: 1,
    name: 'Kiln',
    owner: 'boss',
    decor_status: expect.stringMatching(/^(none|draft|published)$/),
  });
  const decorated = async () => (await call('GET', '/shops/current', undefined, clerk)).data.decor_status;
  expect(await decorated()).toBe('none');
  await sql`insert into content.decor_pages (page_key) values ('index')`;
  await sql`
    insert into content.decor_variants (page_key, variant_key, variant_name, components, created_at, updated_at)
    values ('index', 'a', '', '[]', now(), now())`;
  expect(await decorated()).toBe('draft');
  await sql`
    with published as (
      insert into content.decor_publications (page_key, variant_key, variant_name, components, published_at, published_by_id)
      values ('index', 'a', '', '[]', now(), 0) returning id
    )
    update content.decor_variants set is_published = true, published_at = now(), publication_id = published.id from published`;
  expect(await decorated()).toBe('published');
  expect(answer.logo).toMatch(/^http:\/\/.*\/uploads\/logo\.png$/);
});
