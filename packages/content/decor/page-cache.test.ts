import { openLog } from '@tradepost/runtime';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { logStatements } from '@tradepost/testing/statements';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { contentModule } from '../module.ts';

let shop: Shop;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(flags: Parameters<typeof openShop>[0] = {}) {
  shop = await openShop(flags);
  closers.push(() => shop.close());
  const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const admin = (method: string, path: string, body?: unknown) =>
    shop.call(method, `/admin/api/decor/${path}`, { token, body });
  const save = (height: number) => admin('PUT', 'index', { components: [{ type: 'spacer', props: { height } }] });
  const publish = () => admin('POST', 'index/publish');
  return { admin, save, publish };
}
const get = (headers: Record<string, string> = {}) => fetch(`${shop.url}/api/v1/index/decor`, { headers });

describe.each(['uws', 'node'])('over %s', (transport) => {
  test('a visitor who has the page gets 304 until another one is published', async () => {
    const { save, publish } = await open({ transport });
    await save(1);
    await publish();
    const first = await get();
    const etag = first.headers.get('etag')!;
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get({ 'if-none-match': known });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    const head = await fetch(`${shop.url}/api/v1/index/decor`, { method: 'HEAD', headers: { 'if-none-match': etag } });
    expect(head.status).toBe(304);
    await save(2);
    expect((await get({ 'if-none-match': etag })).status).toBe(304);
    await publish();
    const changed = await get({ 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(await changed.json()).toMatchObject({ code: 0, data: { components: [{ props: { height: 2 } }] } });
  });
});

test('a page that is read again sends no statement, and neither does an unsaved home page', async () => {
  const { save } = await open();
  const log = logStatements(shop);
  await get();
  expect((await log.during(async () => (await get()).text())).texts).toEqual([]);
  await save(1);
  await Promise.all(Array.from({ length: 20 }, () => get()));
  expect((await log.during(async () => (await get()).text())).texts).toEqual([]);
  const once = await log.during(() => fetch(`${shop.url}/api/v1/decor/unknown?variant=x`));
  expect(once.texts).toHaveLength(1);
});

test('the language, the time zone and the address of files are those of the request', async () => {
  const { save } = await open({ publicUrl: 'https://shop.example' });
  await save(1);
  const name = async (lang: string) => (await shop.call('GET', '/api/v1/index/decor', { lang })).data.variant_name;
  expect([await name('en'), await name('zh-CN'), await name('en')]).toEqual(['Default', '默认版本', 'Default']);
  const before = (await shop.call('GET', '/api/v1/index/decor')).data.updated_at;
  await shop.server.runtime.settings.set('shop.time_zone', 'UTC');
  const after = (await shop.call('GET', '/api/v1/index/decor')).data.updated_at;
  expect([before.slice(-6), after.slice(-6)]).toEqual(['+08:00', '+00:00']);
});

test('another instance shows a published page at once', async () => {
  const { save, publish } = await open();
  const other = await openShop({ databaseUrl: shop.database.url });
  closers.push(() => other.close());
  const height = async () => (await other.call('GET', '/api/v1/index/decor')).data.components[0]?.props.height;
  await save(1);
  await publish();
  expect(await height()).toBe(1);
  await save(2);
  await publish();
  await vi.waitFor(async () => expect(await height()).toBe(2), { timeout: 3_000 });
});

test('a load that began before a change is not kept, and a lost connection of events ends all pages', async () => {
  await open();
  const { openPageCache } = await import('./page-cache.ts');
  const reconnect: (() => void)[] = [];
  const { events } = shop.server.runtime;
  const cache = await openPageCache({
    events: { ...events, onReconnect: (handle) => void reconnect.push(handle) },
    log: openLog({ level: 'silent' }),
  });
  closers.push(() => cache.close());
  const answerOf = (etag: string) => ({ answer: { etag, bytes: new Uint8Array() } as never, keep: true });
  const slow = Promise.withResolvers<void>();
  const old = cache.get('index', '', () => slow.promise.then(() => answerOf('old')));
  await cache.changed('index');
  const fresh = cache.get('index', '', async () => answerOf('new'));
  slow.resolve();
  expect([(await old).etag, (await fresh).etag]).toEqual(['old', 'new']);
  const kept = () => cache.get('index', '', async () => answerOf('later'));
  expect((await kept()).etag).toBe('new');
  for (const handle of reconnect) handle();
  expect((await kept()).etag).toBe('later');
});

test('with the module switched off its routes and its menu are gone, and its tables stay', async () => {
  await open({ modules: `-${contentModule.name}` });
  expect((await get()).status).toBe(404);
  const token = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  expect(JSON.stringify((await shop.call('GET', '/admin/api/menus', { token })).data)).not.toContain('/decor');
  expect(await shop.database.sql`select from content.decor_pages`).toHaveLength(0);
});
