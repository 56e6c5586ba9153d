import { setTimeout as sleep } from 'node:timers/promises';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { stockWarehouses } from '@tradepost/testing/warehouses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Many buyers at once over HTTP: no piece is sold twice, no order is both paid and cancelled, no request hangs. */
let shop: Shop;
let usesWarehouses = false;

type Buyer = { token: string; address_id: number };
/** Creates accounts with an address by SQL, because logins are not tested here. */
async function buyers(count: number): Promise<Buyer[]> {
  const rows = await shop.database.sql<{ user_id: number; id: number }[]>`
    with made as (
      insert into identity.shoppers (nickname) select 'buyer ' || n from generate_series(1, ${count}) as n returning id)
    insert into identity.addresses (user_id, name, phone, is_default) select id, 'Ann', '13800000000', true from made returning user_id, id`;
  return Promise.all(
    rows.map(async (row) => ({
      token: await shop.server.tokens.issue({ role: 'user', id: row.user_id, perms: [] }),
      address_id: row.id,
    })),
  );
}

/** Creates a product with stock. The warehouse provider gets each SKU in one of two warehouses. */
async function goods(options: { stocks: number[] }) {
  const product = await insertProduct(shop.database, options);
  if (usesWarehouses) {
    const stocks: Record<string, Record<number, number>> = { EVEN: {}, ODD: {} };
    product.sku_ids.forEach((sku, i) => {
      stocks[i % 2 ? 'ODD' : 'EVEN']![sku] = options.stocks[i]!;
    });
    await stockWarehouses(shop.database.sql, stocks);
  }
  return product;
}

const post = (path: string, token: string, body?: object) => shop.call('POST', path, { token, body });
const buy = ({ token, address_id }: Buyer, ...skus: number[]) =>
  post('/api/v1/orders', token, { address_id, items: skus.map((sku_id) => ({ sku_id })) });
const stockOf = async (sku: number) => {
  const [row] = await shop.database
    .sql`select stock, reserved_stock as reserved, sold from catalog.product_skus where id = ${sku}`;
  return { ...row! };
};
/** The number of answers by code. An answer without HTTP status 200 is counted under its status. */
const tally = (answers: { status: number; code: number }[]) => {
  const counts: Record<string, number> = {};
  for (const { status, code } of answers) {
    const key = status === 200 ? String(code) : `HTTP ${status}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

/** In batches, one transaction decides between its calls. Without batches only the locks of the database do. */
describe.each([
  ['in batches', {}, 'local'],
  ['without batches', { batchMax: 1, batchesInFlight: 8, databasePool: 12 }, 'local'],
  ['in batches from warehouses', {}, 'builtin_wms'],
  ['without batches from warehouses', { batchMax: 1, batchesInFlight: 8, databasePool: 12 }, 'builtin_wms'],
])('orders written %s', (_case, flags, provider) => {
  beforeAll(async () => {
    shop = await openShop({ only: 'api,worker', ...flags }, { 'inventory.provider': provider });
    usesWarehouses = provider === 'builtin_wms';
  });
  afterAll(() => shop?.close());

  test('400 buyers of 100 pieces: 100 orders are placed and paid, 300 are refused, and no stock is left', async () => {
    const { sku_ids } = await goods({ stocks: [100] });
    const sku = sku_ids[0]!;
    const crowd = await buyers(400);
    const answers = await Promise.all(crowd.map((buyer) => buy(buyer, sku)));
    expect(tally(answers)).toEqual({ 0: 100, 20001: 300 });
    for (const answer of answers) if (answer.code !== 0) expect(answer.message).toBe('Insufficient stock');
    expect(await stockOf(sku)).toEqual({ stock: 100, reserved: 100, sold: 0 });

    const paid = await Promise.all(
      answers.flatMap((answer, i) =>
        answer.code === 0 ? [post(`/api/v1/orders/${answer.data.id}/pay`, crowd[i]!.token)] : [],
      ),
    );
    expect(tally(paid)).toEqual({ 0: 100 });
    expect(await stockOf(sku)).toEqual({ stock: 0, reserved: 0, sold: 100 });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('200 buyers of two pieces each, with 101 in stock: 50 orders are placed and one piece is left', async () => {
    const { sku_ids } = await goods({ stocks: [101] });
    const crowd = await buyers(200);
    await Promise.all(crowd.map(({ token }) => post('/api/v1/cart/add', token, { sku_id: sku_ids[0], qty: 2 })));
    const answers = await Promise.all(
      crowd.map(({ token, address_id }) => post('/api/v1/orders', token, { address_id })),
    );
    expect(tally(answers)).toEqual({ 0: 50, 20001: 150 });
    expect(await stockOf(sku_ids[0]!)).toEqual({ stock: 101, reserved: 100, sold: 0 });
  });

  test('pay and cancel of one order at once: exactly one call succeeds', async () => {
    const { sku_ids } = await goods({ stocks: [20] });
    const crowd = await buyers(20);
    const orders = await Promise.all(crowd.map((buyer) => buy(buyer, sku_ids[0]!)));
    let paid = 0;
    await Promise.all(
      orders.map(async ({ data }, i) => {
        const actions =
          i % 2
            ? ['pay', 'cancel', 'pay', 'cancel', 'pay', 'cancel']
            : ['cancel', 'pay', 'cancel', 'pay', 'cancel', 'pay'];
        const answers = await Promise.all(
          actions.map((action) => post(`/api/v1/orders/${data.id}/${action}`, crowd[i]!.token)),
        );
        expect(tally(answers)).toEqual({ 0: 1, 500: 5 });
        const winner = actions[answers.findIndex((answer) => answer.code === 0)];
        if (winner === 'pay') paid += 1;
        const [row] = await shop.database.sql`select status from orders.orders where id = ${data.id}`;
        expect(row!.status).toBe(winner === 'pay' ? 2 : 6);
      }),
    );
    expect(await stockOf(sku_ids[0]!)).toEqual({ stock: 20 - paid, reserved: 0, sold: paid });
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  test('a cart that is ordered five times at once becomes one order', async () => {
    const { sku_ids } = await goods({ stocks: [1000] });
    for (const { token, address_id } of await buyers(10)) {
      await post('/api/v1/cart/add', token, { sku_id: sku_ids[0], qty: 3 });
      const answers = await Promise.all(Array.from({ length: 5 }, () => post('/api/v1/orders', token, { address_id })));
      expect(tally(answers)).toEqual({ 0: 1, 20001: 4 });
      for (const answer of answers) if (answer.code !== 0) expect(answer.message).toBe('Cart is empty');
      expect((await shop.call('GET', '/api/v1/cart', { token })).data).toEqual([]);
    }
    expect(await stockOf(sku_ids[0]!)).toEqual({ stock: 1000, reserved: 30, sold: 0 });
  });

  test('no piece is lost when a cart is filled and ordered at once', async () => {
    const { sku_ids } = await goods({ stocks: [100_000] });
    for (const { token, address_id } of await buyers(5)) {
      const added = Array.from({ length: 20 }, () => post('/api/v1/cart/add', token, { sku_id: sku_ids[0] }));
      const ordered = Array.from({ length: 5 }, () => post('/api/v1/orders', token, { address_id }));
      await Promise.all([...added, ...ordered]);
      const cart = (await shop.call('GET', '/api/v1/cart', { token })).data as { qty: number }[];
      const orders = (await shop.call('GET', '/api/v1/orders?size=50', { token })).data.list as {
        items: { qty: number }[];
      }[];
      const sum = (lines: { qty: number }[]) => lines.reduce((total, line) => total + line.qty, 0);
      expect(sum(cart) + sum(orders.flatMap((order) => order.items))).toBe(20);
    }
  });

  test('64 clients order, pay and cancel overlapping SKUs in every sequence: no deadlock, and the sums agree', async () => {
    const initial = 60;
    const { sku_ids } = await goods({ stocks: Array.from({ length: 6 }, () => initial) });
    const crowd = await buyers(64);
    const answers: { status: number; code: number }[] = [];
    await Promise.all(
      crowd.map(async (buyer, i) => {
        for (let round = 0; round < 6; round += 1) {
          const first = sku_ids[(i + round) % 6]!;
          const second = sku_ids[(i * 5 + round * 3 + 1) % 6]!;
          const order = await buy(buyer, first, ...(second === first ? [] : [second]));
          answers.push(order);
          if (order.code !== 0) continue;
          const action = ['pay', 'cancel', ''][(i + round) % 3]!;
          if (action) answers.push(await post(`/api/v1/orders/${order.data.id}/${action}`, buyer.token));
        }
      }),
    );
    const counts = tally(answers);
    expect(Object.keys(counts).filter((code) => code !== '0' && code !== '20001')).toEqual([]);
    expect(counts['0']).toBeGreaterThan(100);
    for (const sku of sku_ids) {
      const { stock, reserved, sold } = await stockOf(sku);
      expect(stock + sold).toBe(initial);
      expect(reserved).toBeLessThanOrEqual(stock);
    }
    const [row] = await shop.database.sql`
    select (select sum(i.qty) from orders.order_items i join orders.orders o on o.id = i.order_id
            where i.sku_id = any(${sku_ids}) and o.status = 1)::int as open, (select sum(reserved_stock) from catalog.product_skus where id = any(${sku_ids}))::int as reserved`;
    expect(row!.reserved).toBe(row!.open);
    expect(await auditViolations(shop.database.sql)).toEqual([]);
  });

  describe('an order whose time to pay is over', () => {
    const expire = (id: number) =>
      shop.database.sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${id}`;
    const sweep = () => shop.database.sql`select graphile_worker.add_job('orders.expire', '{}'::json)`;
    const hasSwept = async () =>
      (
        await shop.database
          .sql`select from graphile_worker.jobs where task_identifier = 'orders.expire' and run_at <= now()`
      ).length === 0;
    async function until(condition: () => Promise<boolean>): Promise<void> {
      for (let i = 0; i < 500; i += 1) {
        if (await condition()) return;
        await sleep(20);
      }
      throw new Error('the condition was not met within ten seconds');
    }
    const statusOf = async (id: number) =>
      (await shop.database.sql`select status from orders.orders where id = ${id}`)[0]!.status as number;

    test('is cancelled and its stock is released; paid, cancelled and recent orders do not change', async () => {
      const { sku_ids } = await goods({ stocks: [4] });
      const [expired, paid, cancelled, recent] = await buyers(4);
      const place = async (buyer: Buyer) => (await buy(buyer, sku_ids[0]!)).data.id as number;
      const ids = {
        expired: await place(expired!),
        paid: await place(paid!),
        cancelled: await place(cancelled!),
        recent: await place(recent!),
      };
      await post(`/api/v1/orders/${ids.paid}/pay`, paid!.token);
      await post(`/api/v1/orders/${ids.cancelled}/cancel`, cancelled!.token);
      for (const id of [ids.expired, ids.paid, ids.cancelled]) await expire(id);
      await sweep();
      await until(async () => (await statusOf(ids.expired)) === 6);
      await sweep();
      await until(hasSwept);
      expect([
        await statusOf(ids.expired),
        await statusOf(ids.paid),
        await statusOf(ids.cancelled),
        await statusOf(ids.recent),
      ]).toEqual([6, 2, 6, 1]);
      expect(await stockOf(sku_ids[0]!)).toEqual({ stock: 3, reserved: 1, sold: 1 });
      const seen = (await shop.call('GET', `/api/v1/orders/${ids.expired}`, { token: expired!.token })).data;
      expect(seen).toMatchObject({ status: 6, inventory_status: 'released', paid_at: null });
      const history = await shop.database
        .sql`select trigger, actor_type from orders.order_history where order_id = ${ids.expired} order by id desc limit 1`;
      expect({ ...history[0]! }).toEqual({ trigger: 'timeout', actor_type: 'system' });
      expect(await post(`/api/v1/orders/${ids.expired}/pay`, expired!.token)).toMatchObject({ code: 500 });
      expect((await buy(expired!, sku_ids[0]!)).code, 'the released piece can be bought again').toBe(0);
      expect(await auditViolations(shop.database.sql)).toEqual([]);
    });

    test('that is paid at the moment of expiry is either paid or cancelled, never both', async () => {
      const { sku_ids } = await goods({ stocks: [40] });
      const crowd = await buyers(40);
      const orders = await Promise.all(crowd.map((buyer) => buy(buyer, sku_ids[0]!)));
      for (const { data } of orders) await expire(data.id);
      const [answers] = await Promise.all([
        Promise.all(orders.map(({ data }, i) => post(`/api/v1/orders/${data.id}/pay`, crowd[i]!.token))),
        sweep(),
        sweep(),
      ]);
      await until(async () => {
        const [row] = await shop.database
          .sql`select count(*)::int as n from orders.orders where id = any(${orders.map(({ data }) => data.id)}) and status = 1`;
        return row!.n === 0;
      });
      const paid = answers.filter((answer) => answer.code === 0).length;
      expect(await stockOf(sku_ids[0]!)).toEqual({ stock: 40 - paid, reserved: 0, sold: paid });
      expect(await auditViolations(shop.database.sql)).toEqual([]);
    });
  });
});
