import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { settings } from '@tradepost/app';
import { openTokens } from '@tradepost/identity';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { defer } from '@tradepost/testing/processes/cleanup';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { testKeyFile } from '@tradepost/testing/servers/key-file';
import { delta, type FakeUpstream, openUpstream, sse } from '@tradepost/testing/servers/upstream';
import { residentMb } from '../bench/usage.ts';
import { type Buyer, cloneTemplate, makeBuyers, makeGoods } from '../faults/test-shop.ts';
import { collectGarbage } from './collect-garbage.ts';
import { startOrdinaryLoad } from './ordinary-load.ts';

type Listener = { url: string; port: number };

/** Megabytes of a process: `resident` is all its memory, `live` that of objects and buffers. */
type Memory = { resident: number; live: number };

/** One server process under attack. */
export type Target = {
  name: 'uws' | 'node';
  api: Listener;
  gateway: Listener;
  /** Its data folder. */
  data: string;
  /** Shoppers of the ordinary load. */
  buyers: readonly Buyer[];
  /** Memory before the first attack, after a collection. */
  start: Memory;
  residentMb(): number;
  /** Memory of the server after a collection. */
  collected(): Promise<Memory>;
  /** The value of a metric without labels. */
  metric(name: string): Promise<number>;
  metrics(): Promise<string>;
  /** Output of the process. */
  output(): string;
  /** Exit code or signal; null while it runs. */
  ended(): number | string | null;
  /** Ends the process with SIGTERM. Returns its exit code, or null when it had to be killed. */
  stop(): Promise<number | null>;
};

/** Two servers, one for each transport, on one database, and the services that they call. */
export type TestServers = {
  sql: Sql;
  databaseUrl: string;
  targets: readonly [Target, Target];
  staff: string;
  /** SKUs with a stock that no attack can sell out. */
  skuIds: readonly number[];
  /** New shoppers for an attack. */
  shoppers(count: number): Promise<Buyer[]>;
  goods: typeof goodsOf extends (sql: Sql, ...rest: infer Rest) => infer Made ? (...rest: Rest) => Made : never;
  /** A gateway token of a new shopper. */
  gatewayKey(limits?: { rpm?: number; tpm?: number }): Promise<string>;
  upstream: FakeUpstream;
  /** Answers `firehoseModel` with a stream of 65 MB. */
  firehose: FakeUpstream;
  /** Number of login codes that were sent. */
  codesSent(): number;
};

const goodsOf = (sql: Sql, options: { stocks?: number[]; price?: number } = {}) => makeGoods(sql, options);

export const paymentSecret = 'secret-of-the-hostile-suite';
export const warehouseApp = { key: 'hostile', secret: 'warehouse-secret-of-the-hostile-suite' };
/** Requests per minute of `limitedModel`. */
export const limitedModelRpm = 5;
export const limitedModel = 'limited';
export const firehoseModel = 'firehose';

/** Receives and counts login codes. */
async function openSmsSink(): Promise<{ url: string; count(): number }> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`, count: () => count };
}

/** Settings of a shop in production. */
const shopSettings = (upstreamUrl: string, firehoseUrl: string, smsUrl: string) => ({
  // Ordinary shoppers pay without a payment provider.
  'pay.instant': true,
  'pay.sandbox.secret': paymentSecret,
  'pay.sandbox.cashier_url': 'http://cashier.example/pay',
  'sms.provider': 'webhook',
  'sms.webhook_url': smsUrl,
  'sms.webhook_secret': 'sms-secret-of-the-hostile-suite',
  'external_wms.app_key': warehouseApp.key,
  'external_wms.app_secret': warehouseApp.secret,
  'external_wms.callback_enabled': true,
  'gateway.upstreams': [
    { name: 'main', base_url: upstreamUrl, api_key: 'sk-upstream' },
    { name: 'firehose', base_url: firehoseUrl, api_key: 'sk-firehose', models: [firehoseModel] },
  ],
  'gateway.models': { [limitedModel]: { rpm_limit: limitedModelRpm }, [firehoseModel]: { upstreams: ['firehose'] } },
  // Attacks on bodies must reach the parser, not the limit of requests.
  'ratelimit.ip_rpm': 0,
});

async function startTarget(name: Target['name'], databaseUrl: string, buyers: readonly Buyer[]): Promise<Target> {
  const data = await mkdtemp(join(tmpdir(), 'tradepost-hostile-'));
  const removeData = () => rm(data, { recursive: true, force: true });
  defer(removeData);
  const env = {
    DATABASE_URL: databaseUrl,
    NODE_ENV: 'production',
    // The attacks compare the metrics, and attack the reference too.
    PUBLIC_METRICS: 'on',
    PUBLIC_DOCS: 'on',
    PUBLIC_URL: 'http://shop.example',
    // For the webhook receivers of the attacks.
    ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    TRANSPORT: name,
  };
  // The inspector opens only on a signal, on a free port of loopback.
  const heap = ['--max-old-space-size=384', '--inspect-port=127.0.0.1:0'];
  const server: RunningServer = await startProcess(
    ['--data', data, '--seed', 'none'],
    env,
    /Shop API\s+(http:\S+)[\s\S]*LLM gateway\s+http:\S+/,
    heap,
  );
  const stop = async () => {
    server.child.kill('SIGTERM');
    const patience = setTimeout(() => server.child.kill('SIGKILL'), 20_000);
    const code = await server.ended;
    clearTimeout(patience);
    return code;
  };
  defer(stop);
  const listener = (url: string): Listener => ({ url, port: Number(new URL(url).port) });
  const gatewayUrl = /LLM gateway\s+(http:[^\s/]*\/\/[^\s/]+)/.exec(server.output())![1]!;
  const pid = server.child.pid!;
  const metrics = async () => (await fetch(`${server.url}/metrics`, { signal: AbortSignal.timeout(60_000) })).text();
  const target: Target = {
    name,
    api: listener(server.url),
    gateway: listener(gatewayUrl),
    ...{ data, buyers },
    start: { resident: 0, live: 0 },
    residentMb: () => residentMb(pid) ?? 0,
    async collected() {
      await collectGarbage(pid, server.output);
      const [heap, external] = await Promise.all(
        ['nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes'].map(target.metric),
      );
      return { resident: residentMb(pid) ?? 0, live: (heap! + external!) / 1e6 };
    },
    metrics,
    async metric(metricName) {
      return Number(new RegExp(`^${metricName} (\\S+)`, 'm').exec(await metrics())?.[1] ?? Number.NaN);
    },
    output: server.output,
    ended: () => server.child.exitCode ?? server.child.signalCode,
    stop,
  };
  return target;
}

async function build(clusterUrl: string): Promise<TestServers> {
  const database = await cloneTemplate(clusterUrl);
  defer(() => database.drop());
  const sql = openDatabase(database.url, { max: 4, name: 'hostile' });
  defer(() => sql.end({ timeout: 1 }));
  const [upstream, firehose, sms] = await Promise.all([openUpstream(), openUpstream(), openSmsSink()]);
  defer(() => Promise.all([upstream.close(), firehose.close()]));
  const piece = sse(delta('more '.repeat(13_000)));
  firehose.always({ chunks: Array.from({ length: 1_000 }, () => piece) });
  const data = await mkdtemp(join(tmpdir(), 'tradepost-hostile-'));
  defer(() => rm(data, { recursive: true, force: true }));
  const { config } = loadConfig({
    env: {},
    flags: { databaseUrl: database.url, data, secretsKeyFile: testKeyFile, databasePool: 2 },
  });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'silent' }) });
  defer(() => runtime.close());
  await runtime.settings.setMany(shopSettings(upstream.url, firehose.url, sms.url));
  const tokens = await openTokens(runtime);
  defer(() => tokens.close());
  const staff = await tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  const { sku_ids: skuIds } = await makeGoods(sql, { stocks: Array.from({ length: 40 }, () => 1_000_000) });
  const shoppers = (count: number) => makeBuyers(sql, tokens, count);
  const [first, second] = await Promise.all([shoppers(2), shoppers(2)]);
  const targets: [Target, Target] = [
    await startTarget('uws', database.url, first),
    await startTarget('node', database.url, second),
  ];
  const post = async (path: string, body: unknown) => {
    const response = await fetch(targets[0].api.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${staff}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { code: number; message: string; data: Record<string, unknown> };
    if (answer.code !== 0) throw new Error(`${path}: ${answer.code} ${answer.message}`);
    return answer.data;
  };
  return {
    sql,
    databaseUrl: database.url,
    targets,
    staff,
    skuIds,
    shoppers,
    goods: (options) => goodsOf(sql, options),
    async gatewayKey({ rpm = 0, tpm = 0 } = {}) {
      const [owner] = await shoppers(1);
      const limits = { rpm_limit: rpm, tpm_limit: tpm };
      const limited = await fetch(`${targets[0].api.url}/api/admin/users/${owner!.id}/ratelimit`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${staff}`, 'content-type': 'application/json' },
        body: JSON.stringify(limits),
      });
      await limited.arrayBuffer();
      const made = await post('/api/admin/api-tokens', { user_id: owner!.id, ...limits });
      return String(made.secret ?? made.token);
    },
    upstream,
    firehose,
    codesSent: sms.count,
  };
}

let shared: Promise<TestServers> | null = null;

/** Runs ordinary purchases first, so that memory of code and caches does not count as growth by an attack. */
async function warmUp(servers: TestServers): Promise<TestServers> {
  for (const target of servers.targets) {
    const ordinaryLoad = startOrdinaryLoad(servers, target);
    await sleep(1_000);
    const { faults } = await ordinaryLoad.end();
    if (faults.length > 0) throw new Error(`before any attack: ${faults.join('; ')}`);
    target.start = await target.collected();
  }
  return servers;
}

/** All attacks of a run share the servers, so later attacks also test the state that earlier ones left. `cleanUp` closes them. */
export function openTestServers(clusterUrl: string): Promise<TestServers> {
  shared ??= build(clusterUrl).then(warmUp);
  return shared;
}
