import type { Sql } from '@tradepost/postgres';
import type { Buyer } from '../faults/test-shop.ts';
import type { Attack, Battle } from './attack.ts';
import { type Attacker, faultOfReply, openAttacker } from './attacker.ts';
import { inParallel, times } from './sockets.ts';

type Catalogue = { skuIds: number[]; productIds: number[] };

/** A set of rows that a caller adds to, and the list that answers it. */
type Growing = {
  name: string;
  path: (index: number) => string;
  json: (index: number) => unknown;
  list: string;
  of: 'shopper' | 'staff';
  /** Rows that are more than any limit should allow. */
  tooMany: { short: number; long: number };
  /** Makes rows by SQL where so many are allowed that adding them one by one takes too long for the short form. */
  fill?(sql: Sql, shopperId: number, rows: number): Promise<unknown>;
};

/** Bytes and milliseconds that a list may take, however much was put into it. */
const listBytes = 512 * 1024;
const listMs = { short: 3_000, long: 1_000 } as const;

/** Products with one SKU each. */
const products = 3_000;
/** Rows that follow those made by SQL. */
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

async function grow(battle: Battle, attacker: Attacker, growing: Growing, shopper: Buyer): Promise<void> {
  const { name, path, json, list } = growing;
  const token = growing.of === 'staff' ? battle.arena.staff : shopper.token;
  const tooMany = battle.of(growing.tooMany);
  const filled = battle.size === 'short' && growing.fill ? tooMany - lastRows : 0;
  if (filled > 0) await growing.fill?.(battle.arena.sql, shopper.id, filled);
  const { url } = battle.target.api;
  let refused = 0;
  await inParallel(times(tooMany - filled), 24, async (index) => {
    if (refused > 10) return;
    const reply = await attacker.ask(url, path(index), { token, json: json(index) });
    battle.sent(1);
    const fault = faultOfReply(reply);
    if (fault) battle.fault(`${name}: ${fault}`);
    if (reply.code !== 0) refused += 1;
  });
  if (refused === 0) battle.fault(`${name}: ${tooMany} were taken and none was refused`);
  const listed = await attacker.ask(url, list, { token });
  if (listed.code !== 0) battle.fault(`${name}: ${list} answers ${listed.status} ${listed.text.slice(0, 200)}`);
  if (listed.bytes > listBytes) battle.fault(`${name}: ${list} answers ${listed.bytes} bytes (at most ${listBytes})`);
  if (listed.ms > listMs[battle.size])
    battle.fault(`${name}: ${list} takes ${Math.round(listed.ms)} ms (at most ${listMs[battle.size]})`);
}

/** A product list as long as the attack needs, made by SQL. */
async function catalogue(battle: Battle, count: number): Promise<Catalogue> {
  const { sql } = battle.arena;
  const rows = await sql<{ id: number; product_id: number }[]>`
    with made as (
      insert into catalog.products (title, price, status)
      select 'Spoon ' || n, 100, 1 from generate_series(1, ${count}) as n returning id)
    insert into catalog.product_skus (product_id, sku_key, price, stock)
    select id, '__default__', 100, 10 from made returning id, product_id`;
  return { skuIds: rows.map(({ id }) => id), productIds: rows.map(({ product_id }) => product_id) };
}

async function anOrder(battle: Battle, attacker: Attacker, { token, address_id }: Buyer): Promise<number> {
  const json = { address_id, items: [{ sku_id: battle.arena.skuIds[0] }] };
  const reply = await attacker.ask(battle.target.api.url, '/api/v1/orders', { token, json });
  return JSON.parse(reply.text).data.id;
}

/** Whatever one caller can add to has a limit with a refusal, and its list stays small and fast. */
export const growth: Attack = {
  name: 'growth',
  about: 'one shopper adds addresses, cart lines and favourites, one administrator notes, until refused',
  transports: 'any',
  async run(battle) {
    const { arena } = battle;
    const attacker = openAttacker();
    const [shopper] = await arena.shoppers(1);
    const [made, orderId] = await Promise.all([catalogue(battle, products), anOrder(battle, attacker, shopper!)]);
    for (const one of growing(made, orderId)) await grow(battle, attacker, one, shopper!);
    attacker.close();
  },
};
