import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { openLog } from '@tradepost/runtime';
import { openDatabaseProxy } from '@tradepost/testing/servers/database-proxy';
import { openRedis, redisIsInstalled } from '@tradepost/testing/servers/redis';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const read = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const numberOf = (metrics: string, name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
const html = { accept: 'text/html,*/*' };

describe('a shop in development', () => {
  let shop: Shop;
  let admin: string;
  beforeAll(async () => {
    shop = await openShop({ adminPort: 0, only: 'api' }, { 'site.shop_name': '<b>Kilns & Co</b>' });
    admin = shop.server.admin!.url;
  });
  afterAll(() => shop?.close());

  test('an operator reads health, readiness and metrics from the admin listener, and a page of a browser does not', async () => {
    const [health, ready, metrics] = await Promise.all(
      ['/health', '/ready', '/metrics'].map((path) => read(admin + path)),
    );
    expect(JSON.parse(health!.text)).toMatchObject({ status: 'ok', version: expect.any(String), pid: process.pid });
    expect(JSON.parse(ready!.text)).toMatchObject({ status: 'ok' });
    expect(JSON.parse(ready!.text).parts.map(({ name }: { name: string }) => name)).toEqual([
      ...['database', 'store', 'process'],
    ]);
    expect(metrics!.text).toContain('db_statements_total');
    for (const { headers } of [health!, ready!, metrics!])
      expect(headers.get('access-control-allow-origin')).toBeNull();
    expect((await read(`${admin}/api/v1/products`)).status).toBe(404);
    expect((await read(`${admin}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  test('an operator sees jobs that no worker runs', async () => {
    await shop.database.sql`
      select graphile_worker.add_job('orders.expire', '{}', run_at => now() - interval '10 minutes'),
             graphile_worker.add_job('orders.expire', '{}', run_at => now() + interval '1 hour')`;
    // The numbers of an earlier read are used for five seconds.
    await expect
      .poll(async () => numberOf((await read(`${admin}/metrics`)).text, 'jobs_due'), { timeout: 15_000, interval: 500 })
      .toBe(1);
    const { text } = await read(`${admin}/metrics`);
    expect(numberOf(text, 'jobs_oldest_due_seconds')).toBeGreaterThan(590);
    expect(['jobs_running', 'jobs_failed', 'jobs_worker_connections'].map((name) => numberOf(text, name))).toEqual([
      ...[0, 0, 0],
    ]);
  });

  test('the page at / has the name of the shop as text, its state, and the way to the reference, in both languages', async () => {
    const english = await read(`${shop.url}/?lang=en`, { headers: html });
    expect(english.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'unsafe-inline';/);
    expect(english.text).toContain('<h1>&lt;b&gt;Kilns &amp; Co&lt;/b&gt;</h1>');
    expect(english.text).not.toContain('<b>');
    expect(english.text).toContain('<td>Database</td><td class="ok">works</td>');
    for (const path of [...english.text.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!))
      expect((await read(shop.url + path)).status, path).toBe(200);
    const chinese = await read(`${shop.url}/?lang=zh-CN`, { headers: html });
    expect(chinese.text).toContain('<html lang="zh-CN">');
    expect(chinese.text).toContain('<td>数据库</td><td class="ok">正常</td>');
  });
});

test.skipIf(!redisIsInstalled('readiness without the store'))(
  'without its Redis a process serves requests and is ready for a proxy, and the admin listener names the store',
  async () => {
    const redis = await openRedis();
    const lines: string[] = [];
    const log = openLog({ level: 'warn', stream: { write: (line: string) => lines.push(line) } });
    const shop = await openShop({ adminPort: 0, redisUrl: redis.url }, {}, { log });
    const metrics = async () => (await read(`${shop.server.admin!.url}/metrics`)).text;
    try {
      const admin = `${shop.server.admin!.url}/ready`;
      expect(await metrics()).toMatch(/^process_part_works\{part="store"\} 1$/m);
      await redis.kill();
      const inside = await read(admin);
      expect(inside.status).toBe(503);
      expect(JSON.parse(inside.text).parts).toContainEqual(expect.objectContaining({ name: 'store', ok: false }));
      expect((await read(`${shop.url}/ready`)).status).toBe(200);
      for (let n = 0; n < 3; n += 1)
        await expect(shop.login('ann', 'wrong')).rejects.toThrow(/login of ann: .*password/);
      // One line a minute, without a stack.
      const warnings = lines.filter((line) => line.includes('attempts are not limited'));
      expect(warnings.map((line) => JSON.parse(line).err)).toEqual([undefined]);
      const text = await metrics();
      for (const [part, works] of [
        ['store', 0],
        ['database', 1],
        ['process', 1],
      ])
        expect(text).toContain(`process_part_works{part="${part}"} ${works}\n`);
      await redis.start();
      await expect.poll(async () => (await read(admin)).status, { timeout: 10_000 }).toBe(200);
    } finally {
      await shop.close();
      await redis.close();
    }
  },
);

test('only the admin listener says which part fails, and a part that works again is ready again', async () => {
  let proxy: Awaited<ReturnType<typeof openDatabaseProxy>> | undefined;
  const shop = await openShop(
    { adminPort: 0 },
    {},
    {
      prepare: async ({ url }) => {
        proxy = await openDatabaseProxy(url);
        return { databaseUrl: proxy.url };
      },
    },
  );
  try {
    const admin = `${shop.server.admin!.url}/ready`;
    expect((await read(admin)).status).toBe(200);
    const gate = proxy!.pauseBefore(/^select 1$/);
    const [inside, outside] = await Promise.all([read(admin), read(`${shop.url}/ready`)]);
    expect([inside.status, outside.status]).toEqual([503, 503]);
    const { parts } = JSON.parse(inside.text);
    expect(parts).toContainEqual({
      name: 'database',
      ok: false,
      ms: expect.any(Number),
      error: 'no answer within 2000 ms',
    });
    expect(parts).toContainEqual({ name: 'store', ok: true, ms: expect.any(Number), error: null });
    expect(JSON.parse(outside.text)).toEqual({ status: 'unavailable' });
    gate.go();
    await expect.poll(async () => (await read(admin)).status, { timeout: 10_000 }).toBe(200);
  } finally {
    await shop.close();
    await proxy?.close();
  }
});

test('in production the ports of clients have no metrics, no reference and no details until an operator asks for them', async () => {
  const shop = await openShop({ only: 'api,gateway', gatewayPort: 0, adminPort: 0, production: true });
  try {
    for (const url of [shop.url, shop.server.gateway!.url])
      for (const path of ['/metrics', '/docs', '/docs/start.js', '/openapi.json', '/asyncapi.json'])
        expect((await read(url + path)).status, path).toBe(404);
    expect((await read(`${shop.server.admin!.url}/metrics`)).status).toBe(200);
    const page = await read(`${shop.url}/?lang=en`, { headers: html });
    expect(page.text).toContain('<h1>This is an API.</h1>');
    expect(page.text).not.toMatch(/Tradepost|href|Database|0\.1\.0/);
    expect(JSON.parse((await read(`${shop.url}/`)).text)).toEqual({ name: 'tradepost' });
    expect((await read(`${shop.url}/health`)).status).toBe(200);
  } finally {
    await shop.close();
  }
  const asked = await openShop({ production: true, publicMetrics: 'on', publicDocs: 'on' });
  try {
    for (const path of ['/metrics', '/docs', '/openapi.json']) expect((await read(asked.url + path)).status).toBe(200);
  } finally {
    await asked.close();
  }
});

test('two processes of one machine start without a port for their admin listeners; a given port that is in use is refused', async () => {
  const [one, two] = await Promise.all([openShop({ adminPort: undefined }), openShop({ adminPort: undefined })]);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  try {
    const urls = [one, two].map(({ server }) => server.admin!.url);
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect((await read(`${url}/ready`)).status).toBe(200);
    await expect(openShop({ adminPort: port })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is in use: give another one with --admin-port`,
    );
  } finally {
    other.close();
    await Promise.all([one.close(), two.close()]);
  }
});
