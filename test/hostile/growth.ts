import type { Sql } from '@tradepost/postgres';
import type { Buyer } from '../faults/test-shop.ts';
import type { Attack, AttackRun } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker } from './attacker.ts';
import { inParallel, times } from './sockets.ts';

type Catalogue = { skuIds: number[]; productIds: number[] };

/** Rows of one kind that a caller can add without end, and the list that shows them. */
type Growing = {
  name: string;
  path: (index: number) => string;
  json: (index: number) => unknown;
  list: string;
  of: 'shopper' | 'staff';
  /** A count above any reasonable limit. */
  tooMany: { short: number; long: number };
  /** Creates rows by SQL, where adding them one by one takes too long for the short form. */
  fill?(sql: Sql, shopperId: number, rows: number): Promise<unknown>;
};

/** Bounds of a list answer in bytes and milliseconds, independent of the number of rows. */
const listBytes = 512 * 1024;
const listMs = { short: 3_000, long: 1_000 } as const;

/** Products with one SKU each. */
const products = 3_000;
/** Rows to add over HTTP after those created by SQL. */
const lastRows = 40;

const growing = ({ skuIds, productIds }: Catalogue, orderId: number): readonly Growing[] => [
  {
    name: 'addresses',
    path: () => '/api/v1/addresses',
    json: (index) => ({ name: `Ann ${index}`, phone: '13800000000', detail: 'd'.repeat(256) }),
    list: '/api/v1/addresses',
    of: 'shopper',
    tooMany: { short: 400, long: products },
  },
  {
    name: 'cart lines',
    path: () => '/api/v1/cart/add',
    json: (index) => ({ sku_id: skuIds.at(-1 - index) }),
    list: '/api/v1/cart',
    of: 'shopper',
    tooMany: { short: 600, long: products },
  },
  {
    name: 'favourites',
    path: (index) => `/api/v1/products/${productIds.at(-1 - index)}/favorite`,
    json: () => ({}),
    list: '/api/v1/user/favorites?size=100',
    of: 'shopper',
    tooMany: { short: products, long: products },
    fill: (sql, userId, rows) => sql`
      with made as (
        insert into catalog.favorites (user_id, product_id)
        select ${userId}, id from unnest(${productIds.slice(0, rows)}::bigint[]) as id returning product_id)
      update catalog.products set favorite_count = favorite_count + 1 where id in (select product_id from made)`,
  },
  {
    name: 'notes of an order',
    path: () => `/admin/api/orders/${orderId}/notes`,
    json: (index) => ({ content: `${index} ${'n'.repeat(480)}` }),
    list: `/admin/api/orders/${orderId}`,
    of: 'staff',
    tooMany: { short: 100, long: 1_000 },
  },
];

async function grow(attackRun: AttackRun, attacker: Attacker, growing: Growing, shopper: Buyer): Promise<void> {
  const { name, path, json, list } = growing;
  const token = growing.of === 'staff' ? attackRun.servers.staff : shopper.token;
  const tooMany = attackRun.of(growing.tooMany);
  attackRun.progress(`fills ${name}`);
  const filled = attackRun.size === 'short' && growing.fill ? tooMany - lastRows : 0;
  if (filled > 0) await growing.fill?.(attackRun.servers.sql, shopper.id, filled);
  const { url } = attackRun.target.api;
  attackRun.progress(`adds ${name}`);
  let refused = 0;
  await inParallel(times(tooMany - filled), 24, async (index) => {
    if (refused > 10) return;
    const reply = await attacker.ask(url, path(index), { token, json: json(index) });
    attackRun.sent(1);
    const fault = faultOfReply(reply);
    if (fault) attackRun.fault(`${name}: ${fault}`);
    if (reply.code !== 0) refused += 1;
  });
  attackRun.progress(`lists ${name}`);
  if (refused === 0) attackRun.fault(`${name}: ${tooMany} rows were accepted and no request was refused`);
  const listed = await attacker.ask(url, list, { token });
  if (listed.code !== 0) attackRun.fault(`${name}: ${list} answers ${listed.status} ${listed.text.slice(0, 200)}`);
  if (listed.bytes > listBytes)
    attackRun.fault(`${name}: ${list} answers ${listed.bytes} bytes (at most ${listBytes})`);
  if (listed.ms > listMs[attackRun.size])
    attackRun.fault(`${name}: ${list} takes ${Math.round(listed.ms)} ms (at most ${listMs[attackRun.size]})`);
}

/** Creates the products of the attack by SQL. */
async function catalogue(attackRun: AttackRun, count: number): Promise<Catalogue> {
  const { sql } = attackRun.servers;
  const rows = await sql<{ id: number; product_id: number }[]>`
    with made as (
      insert into catalog.products (title, price, status)
      select 'Spoon ' || n, 100, 1 from generate_series(1, ${count}) as n returning id)
    insert into catalog.product_skus (product_id, sku_key, price, stock)
    select id, '__default__', 100, 10 from made returning id, product_id`;
  return { skuIds: rows.map(({ id }) => id), productIds: rows.map(({ product_id }) => product_id) };
}

async function anOrder(attackRun: AttackRun, attacker: Attacker, { token, address_id }: Buyer): Promise<number> {
  const json = { address_id, items: [{ sku_id: attackRun.servers.skuIds[0] }] };
  const reply = await attacker.ask(attackRun.target.api.url, '/api/v1/orders', { token, json });
  return JSON.parse(reply.text).data.id;
}

/** Every set that a caller can extend has a limit with a refusal, and its list stays small and fast. */
export const growth: Attack = {
  name: 'growth',
  about: 'a shopper adds addresses, cart lines and favourites, an administrator adds notes, until refused',
  transports: 'any',
  async run(attackRun) {
    const { servers } = attackRun;
    const attacker = openAttacker();
    const [shopper] = await servers.shoppers(1);
    const [made, orderId] = await Promise.all([catalogue(attackRun, products), anOrder(attackRun, attacker, shopper!)]);
    for (const one of growing(made, orderId)) await grow(attackRun, attacker, one, shopper!);
    attacker.close();
  },
};
