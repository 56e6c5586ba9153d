import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPaymentSimulator } from '@tradepost/payment-simulator';
import { openLog } from '@tradepost/runtime';
import { externalSettings } from '@tradepost/testing/external-shop';
import { startProcess } from '@tradepost/testing/processes/process';
import { cloneDatabase } from '@tradepost/testing/servers/database';
import { openTraceCollector, type TraceCollector } from '@tradepost/testing/servers/trace-collector';
import { json, startWarehouseServer } from '@tradepost/testing/servers/warehouse-server';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** An operator finds in a tracing system where the time of a request went, up to the partner that its job called. */
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

describe('with a collector', () => {
  let collector: TraceCollector;
  let warehouse: Awaited<ReturnType<typeof startWarehouseServer>>;
  let shop: Shop;
  beforeAll(async () => {
    collector = await openTraceCollector();
    warehouse = await startWarehouseServer(json({ code: 0, message: 'ok' }));
    shop = await openShop(
      // Only requests whose caller records them, so that other jobs of the shop do not disturb.
      { only: 'api,worker', otlpEndpoint: collector.url, otlpHeaders: 'x-key=key', traceRatio: 0 },
      externalSettings(warehouse.url, 'async'),
    );
  });
  afterAll(async () => {
    await shop?.close();
    await Promise.all([collector?.close(), warehouse?.close()]);
  });

  test('a request, its job and the call of the job are spans of one trace, and the partner gets the id of the call', async () => {
    const buyer = await shop.shopper();
    const { sku_ids } = await insertProduct(shop.database);
    const placed = await shop.call('POST', '/api/v1/orders?keyword=private', {
      token: buyer.token,
      headers: { traceparent },
      body: { address_id: buyer.address_id, items: [{ sku_id: sku_ids[0] }] },
    });
    expect(placed.code).toBe(0);
    await warehouse.received(1);
    const find = (kind: string) => collector.spans.find((span) => span.kind === kind);
    await expect
      .poll(() => ['server', 'consumer', 'client'].every((kind) => find(kind)), { timeout: 20_000 })
      .toBe(true);
    const [server, commit, job, client] = ['server', 'internal', 'consumer', 'client'].map((kind) => find(kind)!);
    expect(server).toMatchObject({ traceId, parentId: '00f067aa0ba902b7', name: 'POST /api/v1/orders', failed: false });
    expect(server!.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/api/v1/orders',
      'http.response.status_code': 200,
      'tradepost.code': 0,
    });
    expect(commit).toMatchObject({ traceId, parentId: server!.id });
    expect(job).toMatchObject({
      traceId,
      parentId: commit!.id,
      attributes: { 'messaging.destination.name': job!.name },
    });
    expect(client).toMatchObject({ traceId, parentId: job!.id, name: 'POST external-wms', failed: false });
    expect(warehouse.calls[0]!.headers.traceparent).toBe(`00-${traceId}-${client!.id}-01`);
    expect(server!.resource).toMatchObject({ 'service.name': 'tradepost', 'service.version': expect.any(String) });
    expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-key': 'key' } });
    // Ids of persons and orders, the query, the account of the partner.
    const text = JSON.stringify(collector.spans);
    for (const secret of ['private', buyer.username, placed.data.order_no, 'test-key', buyer.token])
      expect(text).not.toContain(secret);
    expect(collector.spans.filter((span) => span.traceId !== traceId)).toEqual([]);
  });

  test.each(['wechat', 'alipay', 'stripe'])('a call to %s carries the trace of its request', async (provider) => {
    const simulator = await openPaymentSimulator();
    const service = await startWarehouseServer(json({ error: { message: 'no' } }, 500));
    const addresses = ['wechat_pay.api_url', 'alipay.gateway_url', 'stripe.api_url'];
    const { settings } = shop.server.runtime;
    for (const { key, value } of simulator.settings())
      await settings.set(key, addresses.includes(key) ? service.url : value);
    try {
      const buyer = await shop.shopper();
      const { sku_ids } = await insertProduct(shop.database);
      const body = { address_id: buyer.address_id, items: [{ sku_id: sku_ids[0] }] };
      const { data: order } = await shop.call('POST', '/api/v1/orders', { token: buyer.token, body });
      const options = { token: buyer.token, headers: { traceparent } };
      collector.spans.length = 0;
      await shop.call('POST', '/api/pay/create', { ...options, body: { order_id: order.id, provider } });
      // Alipay is called first by the job that asks for the money some minutes later.
      await shop.database.sql`update graphile_worker._private_jobs set run_at = now() where locked_at is null`;
      await service.received(1);
      // A job may call as well: its span can end before that of the first call.
      const sent = service.calls[0]!.headers.traceparent;
      const call = () => collector.spans.find(({ id }) => sent === `00-${traceId}-${id}-01`);
      const expected = { traceId, kind: 'client', name: `POST ${provider}`, failed: true };
      await expect.poll(call, { timeout: 20_000 }).toMatchObject(expected);
    } finally {
      await Promise.all([simulator.close(), service.close()]);
    }
  });
});

test('a collector that hangs or is down delays no request and no stop, and is one line in the log', async () => {
  const hanging = await openTraceCollector(() => {});
  const closed = await openTraceCollector();
  await closed.close();
  for (const { url } of [hanging, closed]) {
    const lines: string[] = [];
    const log = openLog({ level: 'info', stream: { write: (line: string) => lines.push(line) } });
    const shop = await openShop({ otlpEndpoint: url, shutdownSeconds: 2 }, {}, { log });
    const times: number[] = [];
    const isWarned = () => lines.some((line) => line.includes('spans are lost'));
    for (let n = 0; n < 300 || !isWarned(); n += 1) {
      const started = performance.now();
      await (await fetch(`${shop.url}/api/v1/products`)).text();
      times.push(performance.now() - started);
      if (n > 300) await sleep(20);
    }
    // The collector alone would cost five seconds. A machine under load is slow as well.
    expect(Math.max(...times)).toBeLessThan(4_000);
    expect(await shop.server.runtime.metrics.read()).toMatch(/^trace_spans_total\{result="failed"\} \d+$/m);
    const started = performance.now();
    await shop.close();
    expect(performance.now() - started).toBeLessThan(8_000);
    expect(lines.filter((line) => line.includes('spans are lost')).length).toBe(1);
  }
  await hanging.close();
});

test('without a collector no library of OpenTelemetry is loaded', async () => {
  const database = await cloneDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-traces-'));
  const collector = await openTraceCollector();
  // Writes the modules of the process at its end.
  const preload = `data:text/javascript,${encodeURIComponent(`
    import { createRequire } from 'node:module';
    import { writeFileSync } from 'node:fs';
    const { cache } = createRequire('/');
    process.on('exit', () => writeFileSync(process.env.LOADED, Object.keys(cache).join('\\n')));`)}`;
  const loaded = async (env: Record<string, string>): Promise<string[]> => {
    const file = join(folder, 'loaded');
    const { child, ended } = await startProcess(
      ['--only', 'api,worker', '--seed', 'none', '--data', folder],
      { DATABASE_URL: database.url, LOADED: file, ...env },
      /Shop API\s+(http:\S+)/,
      ['--import', preload],
    );
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    // The metrics load the API of OpenTelemetry, which does nothing alone.
    return (await readFile(file, 'utf8')).split('\n').filter((path) => /@opentelemetry\/(?!api\/)/.test(path));
  };
  try {
    expect(await loaded({})).toEqual([]);
    expect((await loaded({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).length).toBeGreaterThan(10);
  } finally {
    await collector.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
