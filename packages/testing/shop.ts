import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, startServer } from '@tradepost/app';
import { type Client, createClient } from '@tradepost/client';
import { type ConfigKey, type Log, loadConfig, openLog } from '@tradepost/runtime';
import { type Answer, type CallOptions, call, checkedFetch } from './client.ts';
import { cloneDatabase, type TestDatabase } from './servers/database.ts';
import { testKeyFile } from './servers/key-file.ts';

export type Shop = {
  url: string;
  server: Server;
  database: TestDatabase;
  /** Sends one request and checks the answer against the API document and the response schema of the route. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The typed client. Its answers are checked as those of `call`. A refusal throws RefusalError. */
  client(token?: string): Client;
  /** Logs in and answers the token. */
  login(username: string, password: string): Promise<string>;
  /** A new shopper with one address. */
  shopper(): Promise<{ id: number; token: string; address_id: number; username: string }>;
  close(): Promise<void>;
};

export type ShopOptions = {
  readonly log?: Log;
  /** Runs before the server starts. Returns flags that depend on the database. */
  readonly prepare?: (database: TestDatabase) => Promise<Partial<Record<ConfigKey, unknown>>>;
};

/** Starts the whole server in this process on a new database. `settings` are stored before it starts. */
export async function openShop(
  flags: Partial<Record<ConfigKey, unknown>> = {},
  settings: Readonly<Record<string, unknown>> = {},
  { log, prepare }: ShopOptions = {},
): Promise<Shop> {
  const database = await cloneDatabase();
  await storeSettings(database, { ...instantPayment, ...settings });
  const prepared = await prepare?.(database);
  const data = await mkdtemp(join(tmpdir(), 'tradepost-shop-'));
  const { config } = loadConfig({
    env: {},
    flags: {
      ...{ databaseUrl: database.url, data, secretsKeyFile: testKeyFile },
      ...{ port: 0, seed: 'none', only: 'api', adminPort: 'off', databasePool: 8, ...flags, ...prepared },
    },
  });
  const server = await startServer({ config, log: log ?? openLog({ level: process.env.TEST_LOG ?? 'silent' }) });
  const url = server.transport?.url ?? '';
  const shopCall: Shop['call'] = (method, path, options) => call(url, shop.server.routes, method, path, options);
  const login: Shop['login'] = async (username, password) => {
    const answer = await shopCall('POST', '/api/auth/login', { body: { username, password } });
    if (answer.code !== 0) throw new Error(`login of ${username}: ${answer.message}`);
    return answer.data.token;
  };
  let shoppers = 0;
  // These functions take server and database from `shop`, which lets go of them when it is closed.
  const shop: Shop = {
    url,
    server,
    database,
    call: shopCall,
    client: (token) => createClient({ url, lang: 'en', token: token ?? null, fetch: checkedFetch(shop.server.routes) }),
    login,
    async shopper() {
      shoppers += 1;
      const username = `shopper${shoppers}`;
      const [row] = await shop.database.sql<{ id: number }[]>`
        insert into identity.shoppers (username, nickname) values (${username}, ${username}) returning id`;
      const id = row!.id;
      const token = await shop.server.tokens.issue({ role: 'user', id, perms: [] });
      const address = await shopCall('POST', '/api/v1/addresses', {
        token,
        body: {
          name: 'Ann',
          phone: '13800000000',
          province: 'Zhejiang',
          city: 'Hangzhou',
          district: 'Xihu',
          detail: '1 Road',
        },
      });
      return { id, token, username, address_id: address.data.id };
    },
    async close() {
      await shop.server.stop();
      await shop.database.drop();
      await rm(data, { recursive: true, force: true });
      // The modules of test files stay loaded, and their variables with them: a closed shop must hold no server.
      Object.assign(shop, { server: undefined, database: undefined });
    },
  };
  return shop;
}

/** Without this setting only a demo shop accepts instant payments. */
export const instantPayment = { 'pay.instant': true } as const;

/** Stores settings as a server finds them when it starts on this database. */
export async function storeSettings({ sql }: TestDatabase, settings: Readonly<Record<string, unknown>>): Promise<void> {
  await sql`
    insert into runtime.settings (key, value) select key, value from jsonb_each(${sql.json(settings as never)})
    on conflict (key) do update set value = excluded.value`;
}

/** Inserts a product by SQL, with one SKU for each element of `stocks`. The price is in cents. */
export async function insertProduct(
  database: TestDatabase,
  product: { title?: string; price?: number; stocks?: number[]; status?: number } = {},
): Promise<{ id: number; sku_ids: number[] }> {
  const { title = 'Enamel mug', price = 1290, stocks = [100], status = 1 } = product;
  const { sql } = database;
  const [row] = await sql<{ id: number }[]>`
    insert into catalog.products (title, price, status) values (${title}, ${price}, ${status}) returning id`;
  const skus = await sql<{ id: number }[]>`
    insert into catalog.product_skus (product_id, sku_key, price, stock)
    select ${row!.id}, 'Size:' || n, ${price}, stock from unnest(${stocks}::int[]) with ordinality as s (stock, n)
    returning id`;
  return { id: row!.id, sku_ids: skus.map((sku) => sku.id) };
}
