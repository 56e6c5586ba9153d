import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assemble, type Server, startServer } from '@tradepost/app';
import { signedHeaders } from '@tradepost/orders';
import { openDatabase, type Sql } from '@tradepost/postgres';
import { type ConfigKey, loadConfig, openLog, type Tasks } from '@tradepost/runtime';
import { type Answer, type CallOptions, call } from '@tradepost/testing/client';
import { defer } from '@tradepost/testing/processes/cleanup';
import { cloneStatement } from '@tradepost/testing/servers/cluster';
import { type DatabaseProxy, openDatabaseProxy } from '@tradepost/testing/servers/database-proxy';
import { testKeyFile } from '@tradepost/testing/servers/key-file';

const paySecret = 'secret-of-the-fault-proofs';

/** An instance of the shop within this process: its API, and its jobs on demand. */
export type Instance = {
  url: string;
  server: Server;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Runs one job on this instance now. */
  job(task: string, payload?: unknown): Promise<void>;
};

export type Buyer = { id: number; token: string; address_id: number };
export type Goods = { id: number; sku_ids: number[] };

/** A shop of two instances on its own database. `first` uses the database through `databaseProxy`, a proxy that can pause and cut. */
export type TestShop = {
  sql: Sql;
  databaseUrl: string;
  databaseProxy: DatabaseProxy;
  first: Instance;
  second: Instance;
  staff: string;
  buyers(count: number): Promise<Buyer[]>;
  goods(options?: { stocks?: number[]; price?: number }): Promise<Goods>;
  close(): Promise<void>;
};

async function openInstance(
  flags: Partial<Record<ConfigKey, unknown>>,
): Promise<Instance & { close(): Promise<void> }> {
  const data = await mkdtemp(join(tmpdir(), 'tradepost-fault-'));
  const { config } = loadConfig({
    env: {},
    flags: { data, secretsKeyFile: testKeyFile, port: 0, seed: 'none', only: 'api', databasePool: 8, ...flags },
  });
  const log = openLog({ level: process.env.TEST_LOG ?? 'silent' });
  const server = await startServer({ config, log });
  const jobs = await assemble(server.runtime);
  const tasks: Tasks = jobs.tasks;
  const url = server.transport?.url ?? '';
  return {
    url,
    server,
    call: (method, path, options) => call(url, server.routes, method, path, options),
    job: (task, payload = {}) => tasks[task]!(payload, { log, signal: new AbortController().signal }),
    async close() {
      await jobs.close();
      await server.stop();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** Creates shoppers with an address by SQL. Logins are not tested here. */
export async function makeBuyers(sql: Sql, tokens: Server['tokens'], count: number): Promise<Buyer[]> {
  const rows = await sql<{ user_id: number; id: number }[]>`
    with made as (
      insert into identity.shoppers (nickname) select 'buyer ' || n from generate_series(1, ${count}) as n returning id)
    insert into identity.addresses (user_id, name, phone, is_default) select id, 'Ann', '13800000000', true from made
    returning user_id, id`;
  return Promise.all(
    rows.map(async (row) => ({
      id: row.user_id,
      token: await tokens.issue({ role: 'user', id: row.user_id, perms: [] }),
      address_id: row.id,
    })),
  );
}

/** Creates a visible product with one SKU for each stock. Prices are in cents. */
export async function makeGoods(sql: Sql, { stocks = [100], price = 1290 } = {}): Promise<Goods> {
  const title = `Mug ${randomBytes(4).toString('hex')}`;
  const [row] = await sql<{ id: number }[]>`
    insert into catalog.products (title, price, status) values (${title}, ${price}, 1) returning id`;
  const skus = await sql<{ id: number }[]>`
    insert into catalog.product_skus (product_id, sku_key, price, stock)
    select ${row!.id}, ${stocks.length === 1 ? sql`'__default__'` : sql`'Size:' || n`}, ${price}, stock
    from unnest(${stocks}::int[]) with ordinality as s (stock, n) returning id`;
  return { id: row!.id, sku_ids: skus.map((sku) => sku.id) };
}

/** Clones a database from the migrated template of this cluster. */
export async function cloneTemplate(clusterUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `fault_${randomBytes(6).toString('hex')}`;
  const admin = openDatabase(clusterUrl, { max: 1 });
  await admin.unsafe(cloneStatement(name));
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return {
    url: url.toString(),
    async drop() {
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

const settingRows = (secret: string) => ({
  'pay.instant': true,
  'pay.sandbox.secret': secret,
  // All requests come from one address, so limits per address are off.
  'sms.per_address_hour': 0,
  'login.failures_per_address': 0,
});

export async function openTestShop(
  clusterUrl: string,
  flags: Partial<Record<ConfigKey, unknown>> = {},
  settings: Readonly<Record<string, unknown>> = {},
): Promise<TestShop> {
  const database = await cloneTemplate(clusterUrl);
  const databaseProxy = await openDatabaseProxy(database.url);
  const sql = openDatabase(database.url, { max: 4, name: 'fault test' });
  const opened: { close(): Promise<void> }[] = [];
  const close = defer(async () => {
    databaseProxy.close().catch(() => {});
    for (const instance of opened) await instance.close().catch(() => {});
    await sql.end({ timeout: 1 });
    await database.drop();
  });
  const rows = { ...settingRows(paySecret), ...settings };
  await sql`
    insert into runtime.settings (key, value) select key, value from jsonb_each(${sql.json(rows as never)})
    on conflict (key) do update set value = excluded.value`;
  const first = await openInstance({ ...flags, databaseUrl: databaseProxy.url });
  opened.push(first);
  const second = await openInstance({ ...flags, databaseUrl: database.url });
  opened.push(second);
  const { tokens } = first.server;
  return {
    sql,
    databaseUrl: database.url,
    databaseProxy,
    first,
    second,
    staff: await tokens.issue({ role: 'admin', id: 1, perms: ['*'] }),
    buyers: (count) => makeBuyers(sql, tokens, count),
    goods: (options) => makeGoods(sql, options),
    close,
  };
}

/** Waits until `holds` returns true. After `seconds` it throws an error with the text `what`. */
export async function until(what: string, holds: () => Promise<boolean> | boolean, seconds = 60): Promise<void> {
  for (const end = performance.now() + seconds * 1000; ; ) {
    if (await holds()) return;
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(20);
  }
}

export const order = (
  at: Instance,
  { token, address_id }: Buyer,
  skuIds: readonly number[],
  options: CallOptions = {},
) =>
  at.call('POST', '/api/v1/orders', {
    token,
    body: { address_id, items: skuIds.map((sku_id) => ({ sku_id })) },
    ...options,
  });

export const payOrCancel = (
  at: Instance,
  verb: 'pay' | 'cancel',
  { token }: Buyer,
  orderId: number,
  options: CallOptions = {},
) => at.call('POST', `/api/v1/orders/${orderId}/${verb}`, { token, ...options });

export const keyed = (key: string = randomUUID()) => ({ headers: { 'idempotency-key': key } });

export type Notice = { payment_no: string; amount: number; trade_no: string };

/** Sends the notice of a payment provider that the money has arrived. */
export function sendNotice(at: Instance, notice: Notice, nonce: string = randomUUID()): Promise<Answer> {
  const body = JSON.stringify({ provider: 'sandbox', currency: 'CNY', status: 'succeeded', ...notice });
  const timestamp = String(Math.trunc(Date.now() / 1000));
  const headers = { 'content-type': 'application/json', ...signedHeaders(paySecret, { timestamp, nonce, body }) };
  return at.call('POST', '/api/pay/callback', { rawBody: body, headers });
}

/** Opens a payment of this order. Returns the notice that the provider would send. */
export async function openPayment(at: Instance, { token }: Buyer, orderId: number): Promise<Notice> {
  const { code, data, message } = await at.call('POST', '/api/pay/create', {
    token,
    body: { order_id: orderId, provider: 'sandbox' },
  });
  if (code !== 0) throw new Error(`pay/create: ${message}`);
  return { payment_no: data.payment_no, amount: data.amount, trade_no: `T${data.payment_no}` };
}
