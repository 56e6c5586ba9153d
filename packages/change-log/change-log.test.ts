import { randomUUID } from 'node:crypto';
import { modules } from '@tradepost/app';
import { createStaff } from '@tradepost/identity';
import { openModuleShop } from '@tradepost/testing/module-shop';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Change, openSummary } from './change.ts';

let shop: Shop;
let admins: { id: number; token: string; username: string }[];
beforeAll(async () => {
  shop = await openShop({ databasePool: 2 });
  admins = await Promise.all(
    ['ann', 'bob'].map(async (username) => {
      const id = await createStaff(shop.database.sql, { username, password: 'admin123456' });
      return { id, username, token: await shop.server.tokens.issue({ role: 'admin', id, perms: ['*'] }) };
    }),
  );
});
afterAll(() => shop?.close());

const ann = () => admins[0]!;

async function staffCall(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const id = randomUUID();
  const answer = await shop.call(method, path, {
    token: ann().token,
    body,
    headers: { 'x-request-id': id, ...headers },
  });
  return { ...answer, id };
}

async function newCategory(name: string, body: object = {}): Promise<{ id: number; request: string }> {
  const { data, id } = await staffCall('POST', '/admin/api/categories', { name, ...body });
  return { id: data.id, request: id };
}

async function changes(query: Record<string, string | number>) {
  const search = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  const answer = await shop.call('GET', `/admin/api/change-log?${search}`, { token: ann().token });
  expect(answer.message).toBe('success');
  return answer.data as { list: Record<string, never>[]; total: number };
}

test('a change has its author, address, request, route, and the values before and after', async () => {
  const { id } = await newCategory('Mugs');
  const request = await staffCall('PUT', `/admin/api/categories/${id}`, { name: 'Cups', sort: 0 });
  const { list, total } = await changes({ request_id: request.id });
  expect(total).toBe(1);
  expect(list[0]).toEqual({
    ...{ id: expect.any(Number), created_at: expect.stringMatching(/^\d{4}-.*\+08:00$/), source: 'api' },
    ...{ staff_id: ann().id, name: 'ann', ip: '127.0.0.1', request_id: request.id },
    ...{ action: 'PUT /admin/api/categories/:id', table: 'catalog.categories', row_id: String(id) },
    ...{ operation: 'update', summary: `Changed category ${id}`, before: { name: 'Mugs' }, after: { name: 'Cups' } },
  });
  const inChinese = await shop.call('GET', `/admin/api/change-log?request_id=${request.id}`, {
    token: ann().token,
    lang: 'zh-CN',
  });
  expect(inChinese.data.list[0].summary).toBe(`修改 分类 ${id}`);
});

test('a deleted row is kept with all its columns, and the name of a removed administrator stays', async () => {
  const { data } = await staffCall('POST', '/admin/api/admins', {
    username: 'cat',
    password: 'cat123456',
    role_id: 1,
    status: 1,
  });
  const token = await shop.server.tokens.issue({ role: 'admin', id: data.id, perms: ['*'] });
  const { id } = await newCategory('Plates');
  await shop.call('DELETE', `/admin/api/categories/${id}`, { token });
  await staffCall('DELETE', `/admin/api/admins/${data.id}`);
  const { list } = await changes({ staff_id: data.id });
  expect(list).toMatchObject([{ name: 'cat', operation: 'delete', before: { id, name: 'Plates' }, after: null }]);
});

test('a long value is cut', async () => {
  const { request } = await newCategory('Long', { translations: { en: { name: 'x'.repeat(50) } } });
  const blocks = [{ type: 'text', props: { text: 'x'.repeat(20_000) } }];
  const product = { title: 'Long', price: 1, stock: 1, detail: { version: 1, blocks } };
  const created = await staffCall('POST', '/admin/api/products', { product });
  expect(created.code).toBe(0);
  const [row] = await shop.database.sql<{ size: number }[]>`
    select max(length(after::text))::int as size from change_log.changes where request_id in (${request}, ${created.id})`;
  expect(row!.size).toBeGreaterThan(4_000);
  expect(row!.size).toBeLessThan(8_000);
});

test('texts that look like a sealed secret are kept; a sealed secret is ***, also inside of JSON', async () => {
  const sealed = `sealed:1:0123abcd:${'A'.repeat(20)}`;
  for (const name of ['a "sealed: b" box', '"sealed:', 'ends with \\"sealed:1:0123abcd:AA"', `\\"${sealed}"`]) {
    const { id, request } = await newCategory(name);
    const { list } = await changes({ request_id: request });
    expect(list).toMatchObject([{ row_id: String(id), after: { name } }]);
  }
  const shown = await shop.database.sql<{ shown: unknown }[]>`
    select change_log.recorded(v.value, false) as shown
    from unnest(array[to_jsonb(${sealed}::text), ${JSON.stringify({ key: sealed, list: [sealed, 'a "b'] })}::text::jsonb])
      with ordinality as v (value, n) order by n`;
  expect(shown.map((row) => row.shown)).toEqual(['***', { key: '***', list: ['***', 'a "b'] }]);
});

describe('only administrators and operators are logged', () => {
  test('a write of a shopper on the same connections leaves nothing', async () => {
    const before = await changes({});
    const shopper = await shop.shopper();
    for (let i = 0; i < 6; i += 1)
      await shop.call('POST', '/api/v1/addresses', {
        token: shopper.token,
        body: { name: 'Ann', phone: '13800000000', province: 'Z', city: 'H', district: 'X', detail: '1' },
        headers: { 'x-request-id': 'shopper' },
      });
    expect((await changes({})).total).toBe(before.total);
  });

  test('concurrent administrators of a group commit have their own changes', async () => {
    const { sql } = shop.database;
    const [warehouse] = await sql<{ id: number }[]>`
      insert into inventory.warehouses (code, name) values ('W1', 'One') returning id`;
    const documents = await sql<{ id: number }[]>`
      insert into inventory.stock_documents (doc_no, warehouse_id, doc_type)
      select 'D' || n, ${warehouse!.id}, 'inbound' from generate_series(1, 20) n returning id`;
    await Promise.all(
      documents.map(({ id }, index) =>
        shop.call('POST', `/admin/api/wms/docs/${id}/cancel`, {
          token: admins[index % 2]!.token,
          headers: { 'x-request-id': `cancel-${id}` },
        }),
      ),
    );
    const rows = await sql`
      select row_id::int as id, request_id, actor_name as name from change_log.changes
      where action = 'POST /admin/api/wms/docs/:id/cancel' order by 1`;
    expect(rows).toEqual(
      documents.map(({ id }, index) => ({ id, request_id: `cancel-${id}`, name: admins[index % 2]!.username })),
    );
  });

  test('a repeat with its Idempotency-Key is logged once', async () => {
    const { id } = await newCategory('Bowls');
    const headers = { 'idempotency-key': randomUUID() };
    for (const _ of [1, 2]) await staffCall('PUT', `/admin/api/categories/${id}`, { name: 'Soup bowls' }, headers);
    expect((await changes({ table: 'catalog.categories', row_id: id, operation: 'update' })).total).toBe(1);
  });

  test('input does not choose the actor', async () => {
    const actor = { source: 'cli', staff_id: admins[1]!.id, name: 'mallory', address: '198.51.100.1' };
    const { id } = await staffCall(
      'POST',
      '/admin/api/categories',
      { name: `'; set tradepost.actor = 'x`, actor, staff_id: 99, 'tradepost.actor': actor },
      { 'x-forwarded-for': '198.51.100.1', 'x-real-ip': '198.51.100.1', 'tradepost.actor': JSON.stringify(actor) },
    );
    expect((await changes({ request_id: id })).list).toMatchObject([{ name: 'ann', ip: '127.0.0.1', source: 'api' }]);
    const odd = await staffCall('POST', '/admin/api/categories', { name: 'Odd' }, { 'x-request-id': `a'"b` });
    const [newest] = (await changes({ table: 'catalog.categories' })).list;
    expect(newest).toMatchObject({ request_id: odd.headers.get('x-request-id') });
  });
});

test('no secret is in the change log', async () => {
  const marker = `marker${randomUUID().replaceAll('-', '')}`;
  const { sql } = shop.database;
  const { data } = await staffCall('POST', '/admin/api/admins', {
    username: 'dora',
    password: marker,
    role_id: 1,
    status: 1,
  });
  await staffCall('PUT', `/admin/api/admins/${data.id}`, { password: `${marker}2` });
  const hashes = await sql<{ password_hash: string }[]>`select password_hash from identity.staff`;
  const shopper = await shop.shopper();
  const token = await staffCall('POST', '/api/admin/api-tokens', { user_id: shopper.id });
  const rotated = await staffCall('POST', `/api/admin/api-tokens/${token.data.id}/rotate`, { grace_seconds: 60 });
  const digests = await sql<{ digest: string }[]>`select encode(token_hash, 'hex') as digest from gateway.api_tokens`;
  const env = { DATABASE_URL: shop.database.url };
  expect(
    (
      await runCommandInProcess(['settings', 'set', 'pay.sandbox.secret'], {
        env,
        input: `${marker}${marker}`,
      })
    ).code,
  ).toBe(0);
  expect((await runCommandInProcess(['token', 'rotate'], { env })).code).toBe(0);
  const [key] = await sql<{ secret: string }[]>`
    select encode(secret, 'hex') as secret from identity.signing_keys order by created_at desc limit 1`;

  const [log] = await sql<{ text: string; settings: number; keys: number }[]>`
    select string_agg(c::text, ' ') as text, count(*) filter (where table_name = 'runtime.setting_changes')::int as settings,
           count(*) filter (where table_name = 'identity.signing_keys')::int as keys
    from change_log.changes c`;
  expect(log).toMatchObject({ settings: 1, keys: 1 });
  const secrets = [marker, token.data.secret, rotated.data.secret, key!.secret];
  secrets.push(...hashes.map((row) => row.password_hash), ...digests.map((row) => row.digest));
  expect(secrets.filter((secret) => log!.text.includes(secret))).toEqual([]);
});

describe('the list', () => {
  test('finds by each filter, and the newest first', async () => {
    const { id, request } = await newCategory('Filtered "quoted" 100%');
    const one = { table: 'catalog.categories', row_id: id };
    const found: Record<string, string | number>[] = [
      { ...one, staff_id: ann().id },
      { ...one, source: 'api' },
      { ...one, operation: 'insert' },
      { ...one, action: 'POST /admin/api/categories' },
      { ...one, from: '2026-01-01', to: '2099-12-31' },
      { ...one, keyword: '100%' },
      { table: 'categories', row_id: id },
      { request_id: request },
    ];
    for (const query of found)
      expect(
        (await changes(query)).list.map((row) => row.row_id),
        JSON.stringify(query),
      ).toEqual([String(id)]);
    const missed: Record<string, string | number>[] = [
      { ...one, staff_id: admins[1]!.id },
      { ...one, source: 'cli' },
      { ...one, operation: 'delete' },
      { ...one, action: 'PUT /admin/api/categories' },
      { ...one, from: '2099-01-01' },
      { ...one, to: '2020-01-01' },
      { ...one, keyword: '100_' },
      { request_id: `${request}x` },
    ];
    for (const query of missed) expect((await changes(query)).total, JSON.stringify(query)).toBe(0);
    const ids = (await changes({ size: 100 })).list.map((row) => Number(row.id));
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  });

  test('names a time that is not valid, and has empty pages at its end', async () => {
    const bad = await shop.call('GET', '/admin/api/change-log?from=yesterday', { token: ann().token });
    expect(bad).toMatchObject({ code: 400, message: expect.stringContaining('from') });
    expect((await changes({ page: 9_999_999, size: 100 })).list).toEqual([]);
    expect((await changes({ staff_id: '', table: '', keyword: '', from: '' })).total).toBeGreaterThan(0);
  });

  test('needs its permission', async () => {
    const token = await shop.server.tokens.issue({ role: 'admin', id: ann().id, perms: ['system:config'] });
    expect((await shop.call('GET', '/admin/api/change-log', { token })).code).toBe(403);
  });
});

test('a new row with a key is created, and only a row of a history is a change', () => {
  const summary = openSummary(modules);
  const inserted = { operation: 'insert', before: null, row_id: '7' } as unknown as Change;
  const token = { ...inserted, table_name: 'gateway.api_tokens', after: { key: 'laptop' } };
  const setting = { ...inserted, table_name: 'runtime.setting_changes', after: { key: 'pay.instant' } };
  expect(summary(token, 'en')).toBe('Created API token laptop');
  expect(summary(setting, 'en')).toBe('Changed setting pay.instant');
});

test('commands are logged with the user of the operating system', async () => {
  const env = { DATABASE_URL: shop.database.url };
  const set = await runCommandInProcess(['settings', 'set', 'site.shop_name', 'Cups'], { env });
  expect(set.code).toBe(0);
  const listed = await runCommandInProcess(
    ['changes', 'list', '--source', 'cli', '--keyword', 'site.shop_name', '--json'],
    { env },
  );
  expect(JSON.parse(listed.stdout)).toMatchObject({
    total: 1,
    changes: [{ source: 'cli', staff_id: null, action: 'settings set', summary: 'Changed setting site.shop_name' }],
  });
  const [{ name, created_at }] = JSON.parse(listed.stdout).changes;
  expect(name).not.toBe('');
  // Both lists name one author, and have the time in the zone of the shop.
  const inLog = await runCommandInProcess(['settings', 'log', 'site.shop_name'], { env });
  const inChanges = await runCommandInProcess(['changes', 'list', '--keyword', 'site.shop_name'], { env });
  expect(inLog.stdout).toMatch(/\n\S+\+08:00 +cli \(\S+\) +site\.shop_name/);
  expect(inLog.stdout).toContain(`cli (${name})`);
  expect(inChanges.stdout).toContain(`${created_at}  cli (${name})  settings set`);
  const plain = await runCommandInProcess(['changes', 'list', '--table', 'catalog.categories', '--limit', '1'], {
    env,
  });
  expect(plain.stdout).toContain('ann');
  expect((await runCommandInProcess(['changes', 'list', '--from', 'yesterday'], { env })).code).toBe(2);
});

test('an export has all changes in pages, as CSV without formulas and as JSON lines', async () => {
  const { sql } = shop.database;
  await sql`
    insert into change_log.changes (source, actor_name, address, request_id, action, table_name, row_id, operation, after)
    select 'cli', '=1+1', '', 'bulk', 'test', 'catalog.products', n::text, 'insert', '{"title": "Mug, \\"blue\\""}'
    from generate_series(1, 2500) n`;
  const env = { DATABASE_URL: shop.database.url };
  const lines = await runCommandInProcess(['changes', 'export', '-', '--request', 'bulk', '--format', 'ndjson'], {
    env,
  });
  const rows = lines.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(rows.map((row) => row.row_id)).size).toBe(2500);
  expect(rows.map((row) => row.id)).toEqual(rows.map((row) => row.id).toSorted((a, b) => b - a));
  const csv = await runCommandInProcess(['changes', 'export', '-', '--request', 'bulk', '--keyword', '2500'], { env });
  const [head, row, ...others] = csv.stdout.split('\r\n');
  expect(head).toBe(
    '\ufeffid,created_at,source,staff_id,name,ip,request_id,action,table,row_id,operation,before,after',
  );
  expect(row).toMatch(/,cli,,'=1\+1,,bulk,test,catalog\.products,2500,insert,,"\{""title"":""Mug, /);
  expect(others).toEqual(['']);
});

test('the back office downloads the changes that match, as the command writes them', async () => {
  const { sql } = shop.database;
  await sql`
    insert into change_log.changes (source, actor_name, address, request_id, action, table_name, row_id, operation, after)
    select 'api', '@SUM(1)', '', 'download', 'test', 'catalog.products', n::text, 'insert', '{"title": "Mug"}'
    from generate_series(1, 2100) n`;
  const download = (query: string, token = ann().token) =>
    shop.call('GET', `/admin/api/change-log/export?${query}`, { token });
  const { data, headers } = await download('request_id=download&size=1&page=9&keyword=');
  expect(headers.get('content-disposition')).toBe('attachment; filename="change-log.csv"');
  const env = { DATABASE_URL: shop.database.url };
  const file = await runCommandInProcess(['changes', 'export', '-', '--request', 'download'], { env });
  expect(data.split('\r\n')).toHaveLength(2102);
  // The text of an answer has lost the byte order mark.
  expect(`\ufeff${data}` === file.stdout).toBe(true);
  expect(data).toContain(",api,,'@SUM(1),,download,");
  expect((await download('request_id=download&row_id=7')).data.split('\r\n')).toHaveLength(3);
  expect((await download('request_id=nothing')).data.split('\r\n')).toHaveLength(2);
  expect(await download('to=yesterday')).toMatchObject({ code: 400, message: expect.stringContaining('to') });
  const other = await shop.server.tokens.issue({ role: 'admin', id: ann().id, perms: ['system:config'] });
  expect((await download('', other)).code).toBe(403);
});

test('the doctor names a watched table whose trigger is off', async () => {
  const { sql } = shop.database;
  const env = { DATABASE_URL: shop.database.url };
  await sql`alter table catalog.categories disable trigger change_log`;
  expect((await runCommandInProcess(['doctor'], { env })).stdout).toContain(
    'changes of catalog.categories are not recorded',
  );
  await sql`alter table catalog.categories enable trigger change_log`;
  expect((await runCommandInProcess(['doctor'], { env })).stdout).toContain('all watched tables have their trigger');
});

test('without the module the log cannot be read, and it still has no gap', async () => {
  const running = modules.filter(({ name }) => name !== 'change-log');
  const off = await openModuleShop(shop.database, running, {}, modules);
  try {
    const { token } = ann();
    for (const path of ['', '/export'])
      expect((await off.call('GET', `/admin/api/change-log${path}`, { token })).status).toBe(404);
    const [here, there] = [shop, off].map(({ call }) => call('GET', '/admin/api/menus', { token }));
    expect(JSON.stringify((await here!).data)).toContain('/system/change-log');
    expect(JSON.stringify((await there!).data)).not.toContain('/system/change-log');
    const headers = { 'x-request-id': 'without-the-module' };
    const { code, data } = await off.call('POST', '/admin/api/categories', {
      token,
      headers,
      body: { name: 'Unseen' },
    });
    expect(code).toBe(0);
    expect(await off.brokenAudits()).toEqual([]);
    const { list } = await changes({ request_id: 'without-the-module' });
    expect(list).toMatchObject([{ row_id: String(data.id), name: 'ann', after: { name: expect.anything() } }]);
  } finally {
    await off.close();
  }
});
