import { setTimeout as sleep } from 'node:timers/promises';
import { invariantErrors } from '@tradepost/testing/invariants';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { shelve } from '@tradepost/testing/warehouses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Many buyers at once over real HTTP: nothing is sold twice, nothing is paid and cancelled, nothing hangs. */
let shop: Shop;
let inWarehouses = false;

type Buyer = { token: string; address_id: number };
/** Accounts with an address, made by SQL: the logins are not what is tested. */
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

/** A product whose stock is where the provider keeps it: each SKU in the one of two warehouses. */
async function goods(of: { stocks: number[] }) {
  const product = await insertProduct(shop.database, of);
  if (inWarehouses) {
    const shelves: Record<string, Record<number, number>> = { EVEN: {}, ODD: {} };
    product.sku_ids.forEach((sku, i) => {
      shelves[i % 2 ? 'ODD' : 'EVEN']![sku] = of.stocks[i]!;
    });
    await shelve(shop.database.sql, shelves);
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
/** How often each code was answered; a 5xx is counted under its HTTP status. */
const tally = (answers: { status: number; code: number }[]) => {
  const counts: Record<string, number> = {};
  for (const { status, code } of answers) {
    const key = status === 200 ? String(code) : `HTTP ${status}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
};

/** Grouped, a batch settles what its calls contend for; one by one, only the locks of the database do. */
describe.each([
  ['in groups', {}, 'local'],
  ['one by one', { batchMax: 1, batchesInFlight: 8, databasePool: 12 }, 'local'],
  ['in groups from warehouses', {}, 'builtin_wms'],
  ['one by one from warehouses', { batchMax: 1, batchesInFlight: 8, databasePool: 12 }, 'builtin_wms'],
])('orders written %s', (_how, flags, provider) => {
  beforeAll(async () => {
    shop = await openShop({ only: 'api,worker', ...flags }, { 'inventory.provider': provider });
    inWarehouses = provider === 'builtin_wms';
  });
  afterAll(() => shop?.close());

  test('400 buyers of 100 pieces: 100 orders, 300 polite refusals; all paid, nothing is left over', async () => {
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
    expect(await invariantErrors(shop.database)).toEqual([]);
  });

  test('200 buyers with two pieces in the cart, of 101: fifty orders, one piece stays', async () => {
    const { sku_ids } = await goods({ stocks: [101] });
    const crowd = await buyers(200);
    await Promise.all(crowd.map(({ token }) => post('/api/v1/cart/add', token, { sku_id: sku_ids[0], qty: 2 })));
    const answers = await Promise.all(
      crowd.map(({ token, address_id }) => post('/api/v1/orders', token, { address_id })),
    );
    expect(tally(answers)).toEqual({ 0: 50, 20001: 150 });
    expect(await stockOf(sku_ids[0]!)).toEqual({ stock: 101, reserved: 100, sold: 0 });
  });

  test('pay and cancel of one order at once: exactly one wins, twenty times', async () => {
    const { sku_ids } = await goods({ stocks: [20] });
    const crowd = await buyers(20);
    const orders = await Promise.all(crowd.map((buyer) => buy(buyer, sku_ids[0]!)));
    let paid = 0;
    await Promise.all(
      orders.map(async ({ data }, i) => {
        const acts =
          i % 2
            ? ['pay', 'cancel', 'pay', 'cancel', 'pay', 'cancel']
            : ['cancel', 'pay', 'cancel', 'pay', 'cancel', 'pay'];
        const answers = await Promise.all(acts.map((act) => post(`/api/v1/orders/${data.id}/${act}`, crowd[i]!.token)));
        expect(tally(answers)).toEqual({ 0: 1, 500: 5 });
        const winner = acts[answers.findIndex((answer) => answer.code === 0)];
        if (winner === 'pay') paid += 1;
        const [row] = await shop.database.sql`select status from orders.orders where id = ${data.id}`;
        expect(row!.status).toBe(winner === 'pay' ? 2 : 6);
      }),
    );
    expect(await stockOf(sku_ids[0]!)).toEqual({ stock: 20 - paid, reserved: 0, sold: paid });
    expect(await invariantErrors(shop.database)).toEqual([]);
  });

  test('the same cart ordered five times at once is one order, ten times', async () => {
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

  test('adding to the cart while it is ordered loses no piece', async () => {
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

  test('64 clients order, pay and cancel pairs of overlapping SKUs in every order: no deadlock, the sums agree', async () => {
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
          const act = ['pay', 'cancel', ''][(i + round) % 3]!;
          if (act) answers.push(await post(`/api/v1/orders/${order.data.id}/${act}`, buyer.token));
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
    expect(await invariantErrors(shop.database)).toEqual([]);
  });

  describe('an order that nobody pays', () => {
    const expire = (id: number) =>
      shop.database.sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${id}`;
    const sweep = () => shop.database.sql`select graphile_worker.add_job('orders.expire', '{}'::json)`;
    async function until(condition: () => Promise<boolean>): Promise<void> {
      for (let i = 0; i < 100; i += 1) {
        if (await condition()) return;
        await sleep(100);
      }
      throw new Error('did not happen within ten seconds');
    }
    const statusOf = async (id: number) =>
      (await shop.database.sql`select status from orders.orders where id = ${id}`)[0]!.status as number;

    test('is cancelled when its time is over, and its stock is free; a paid one, a cancelled one and a young one are not touched', async () => {
      const { sku_ids } = await goods({ stocks: [4] });
      const [late, paid, cancelled, young] = await buyers(4);
      const place = async (buyer: Buyer) => (await buy(buyer, sku_ids[0]!)).data.id as number;
      const ids = {
        late: await place(late!),
        paid: await place(paid!),
        cancelled: await place(cancelled!),
        young: await place(young!),
      };
      await post(`/api/v1/orders/${ids.paid}/pay`, paid!.token);
      await post(`/api/v1/orders/${ids.cancelled}/cancel`, cancelled!.token);
      for (const id of [ids.late, ids.paid, ids.cancelled]) await expire(id);
      await sweep();
      await until(async () => (await statusOf(ids.late)) === 6);
      await sweep();
      await sleep(500);
      expect([
        await statusOf(ids.late),
        await statusOf(ids.paid),
        await statusOf(ids.cancelled),
        await statusOf(ids.young),
      ]).toEqual([6, 2, 6, 1]);
      expect(await stockOf(sku_ids[0]!)).toEqual({ stock: 3, reserved: 1, sold: 1 });
      const seen = (await shop.call('GET', `/api/v1/orders/${ids.late}`, { token: late!.token })).data;
      expect(seen).toMatchObject({ status: 6, inventory_status: 'released', paid_at: null });
      const history = await shop.database
        .sql`select trigger, actor_type from orders.order_history where order_id = ${ids.late} order by id desc limit 1`;
      expect({ ...history[0]! }).toEqual({ trigger: 'timeout', actor_type: 'system' });
      expect(await post(`/api/v1/orders/${ids.late}/pay`, late!.token)).toMatchObject({ code: 500 });
      expect((await buy(late!, sku_ids[0]!)).code, 'the piece can be bought again').toBe(0);
      expect(await invariantErrors(shop.database)).toEqual([]);
    });

    test('paid in the very moment it expires is either paid or cancelled, never both', async () => {
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
      expect(await invariantErrors(shop.database)).toEqual([]);
    });
  });
});
