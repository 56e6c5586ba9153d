import { modules } from '@tradepost/app';
import { type Tokens, tokensService } from '@tradepost/identity';
import type { Module } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { type ModuleShop, openModuleShop } from '@tradepost/testing/module-shop';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { insertProduct } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AfterSaleSummary,
  completeOrders,
  endAfterSale,
  lockOrdersForAfterSale,
  markAfterSale,
  markShipped,
  type OrderItemReview,
  orderFilters,
  orderItemSections,
  orderSections,
  refundOrders,
  selectOrderLines,
  selectShippedBefore,
} from '../index.ts';

/** What other packages do with a paid order: its status moves only where the table allows, and their fields are in its answer. */
let database: TestDatabase;
let shop: ModuleShop;
let buyer: Awaited<ReturnType<ModuleShop['shopper']>>;
let admin: string;
let tokens: Tokens;
let skus: number[];

const staff = { type: 'admin', id: 9 } as const;
const by = {
  actor: staff,
  get now() {
    return new Date();
  },
};
const summaries = new Map<number, AfterSaleSummary>();
const reviews = new Map<number, OrderItemReview>();

/** The orders with a shipment by this carrier. */
const shippedBy = new Map<string, number[]>();

/** Stands for the packages of shipments, after-sales and reviews. */
const probe: Module = {
  name: 'probe',
  needs: ['orders'],
  open: (context) => {
    tokens = context.service(tokensService);
    return {
      contributions: [
        orderSections.add({
          load: async (ids) =>
            new Map(
              ids
                .filter((id) => summaries.has(id))
                .map((id) => [id, { after_sale_summary: summaries.get(id)!, has_after_sale: true }]),
            ),
        }),
        orderItemSections.add({
          load: async (ids, locale, fileUrl) =>
            new Map(
              ids
                .filter((id) => reviews.has(id))
                .map((id) => {
                  const review = reviews.get(id)!;
                  return [id, { review: { ...review, content: locale, images: review.images.map(fileUrl) } }];
                }),
            ),
        }),
        orderFilters.add({
          field: 'has_after_sale',
          matching: (sql, value) =>
            sql`(select unnest(${value === 'true' ? [...summaries.keys()] : []}::bigint[]) as order_id)`,
        }),
        orderFilters.add({
          field: 'logistics_company',
          matching: (sql, company) => sql`(select unnest(${shippedBy.get(company) ?? []}::bigint[]) as order_id)`,
        }),
      ],
    };
  },
};

beforeAll(async () => {
  database = await cloneDatabase();
  const replaced = ['fulfilment', 'reviews', 'carrier-simulator'];
  const others = modules.filter((module) => !replaced.includes(module.name));
  shop = await openModuleShop(database, [...others, probe]);
  buyer = await shop.shopper();
  admin = await tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  ({ sku_ids: skus } = await insertProduct(database, { stocks: [1_000, 1_000] }));
});
afterAll(async () => {
  await shop?.close();
  await database?.drop();
});

const tx = <T>(work: (tx: Transaction) => Promise<T>) => shop.runtime.sql.begin(work) as Promise<T>;
/** Runs `work` in a transaction and undoes it. */
async function trial<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  const undo = new Error('undo');
  let result: T;
  await tx(async (t) => {
    result = await work(t);
    throw undo;
  }).catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return result!;
}
const ship = (id: number) => tx((t) => markShipped(t, [{ order_id: id, tracking_no: `SF${id}` }], by));
async function order(status: 1 | 2 | 3 | 6 = 2): Promise<number> {
  const { token, address_id } = buyer;
  const body = { address_id, items: skus.map((sku_id) => ({ sku_id })) };
  const { id } = (await shop.call('POST', '/api/v1/orders', { token, body })).data;
  if (status === 6) await shop.call('POST', `/api/v1/orders/${id}/cancel`, { token });
  if (status === 2 || status === 3) await shop.call('POST', `/api/v1/orders/${id}/pay`, { token });
  if (status === 3) await ship(id);
  return id;
}
const detail = async (id: number, lang = 'en') =>
  (await shop.call('GET', `/api/v1/orders/${id}`, { token: buyer.token, lang })).data;
const statusOf = async (id: number) => (await detail(id)).status;
const historyOf = async (id: number) =>
  (
    await database.sql`
      select from_status, to_status, trigger, actor_type, actor_id from orders.order_history where order_id = ${id} order by id`
  ).map((row) => [row.from_status, row.to_status, row.trigger, row.actor_type, row.actor_id]);
const summary: AfterSaleSummary = {
  ...{ in_progress_count: 1, has_open_case: true, latest_case_id: 7, can_apply: false },
  ...{ latest_status: 'applied', latest_status_label: 'Applied' },
};

describe('the status of a paid order', () => {
  test('goes into after-sale and back to where it was, each with its history', async () => {
    const id = await order(3);
    expect(await tx((t) => markAfterSale(t, [id, id], by))).toEqual([id]);
    expect(await statusOf(id)).toBe(5);
    expect((await detail(id)).status_label).toBe('After-Sale');
    expect(await tx((t) => endAfterSale(t, [{ order_id: id, to: 3 }], by))).toEqual([id]);
    expect(await tx((t) => completeOrders(t, [id], 'auto_complete', by))).toEqual([id]);
    expect(await statusOf(id)).toBe(4);
    expect((await historyOf(id)).slice(3)).toEqual([
      [3, 5, 'after_sale_open', 'admin', 9],
      [5, 3, 'after_sale_end', 'admin', 9],
      [3, 4, 'auto_complete', 'admin', 9],
    ]);
    const { data } = await shop.call('GET', `/admin/api/orders/${id}/timeline`, { token: admin });
    const stages = data.map((stage: { stage: string }) => stage.stage);
    expect(stages).toEqual(['created', 'paid', 'shipped', 'received', 'completed']);
  });

  test('an order that was refunded in full before it was shipped is cancelled, and stays paid for the audits', async () => {
    const id = await order(2);
    const { total_amount } = await detail(id);
    await tx((t) => markAfterSale(t, [id], by));
    const refund = {
      order_id: id,
      refund_no: 'RF-FULL',
      amount: Math.round(total_amount * 100),
      reason: 'after_sale:1',
    };
    await tx((t) => refundOrders(t, [refund], { now: new Date(), attempts: 1 }));
    expect(await tx((t) => endAfterSale(t, [{ order_id: id, to: 6 }], by))).toEqual([id]);
    expect((await historyOf(id)).at(-1)).toEqual([5, 6, 'after_sale_refunded', 'admin', 9]);
    const { data } = await shop.call('GET', `/admin/api/orders/${id}/timeline`, { token: admin });
    expect(data.at(-1)).toMatchObject({ stage: 'cancelled', content: 'Refunded by an after-sale' });
    expect(await shop.brokenAudits()).toEqual([]);
  });

  test('no move leaves a state that the table does not name', async () => {
    const moves = {
      mark: (t: Transaction, id: number) => markAfterSale(t, [id], by),
      end: (t: Transaction, id: number) => endAfterSale(t, [{ order_id: id, to: 3 }], by),
      refunded: (t: Transaction, id: number) => endAfterSale(t, [{ order_id: id, to: 6 }], by),
      reviewed: (t: Transaction, id: number) => completeOrders(t, [id], 'reviewed', by),
      auto: (t: Transaction, id: number) => completeOrders(t, [id], 'auto_complete', by),
      ship: (t: Transaction, id: number) => markShipped(t, [{ order_id: id, tracking_no: 'T' }], by),
    };
    const allowed: Record<number, readonly (keyof typeof moves)[]> = {
      1: [],
      2: ['mark', 'ship'],
      3: ['mark', 'reviewed', 'auto'],
      4: ['mark'],
      5: ['end', 'refunded'],
      6: [],
    };
    const id = await order(3);
    for (const status of [1, 2, 3, 4, 5, 6])
      for (const [name, move] of Object.entries(moves)) {
        const moved = await trial(async (t) => {
          await t`update orders.orders set status = ${status} where id = ${id}`;
          return move(t, id);
        });
        expect([status, name, moved.length === 1]).toEqual([status, name, allowed[status]!.includes(name as never)]);
      }
  });

  test('ship, close, open and end an after-sale at once, thirty times: the history is a chain', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => order(2)));
    await Promise.all(
      ids.flatMap((id) => [
        ship(id),
        tx((t) => markAfterSale(t, [id], by)),
        tx((t) => markAfterSale(t, [id], by)),
        shop.call('POST', '/admin/api/orders/batch/close', { token: admin, body: { ids: [id] } }),
        tx((t) => completeOrders(t, [id], 'auto_complete', by)),
      ]),
    );
    for (const id of ids) {
      const opened = (await historyOf(id)).filter(([, , trigger]) => trigger === 'after_sale_open');
      expect(opened).toHaveLength(1);
      const [from] = opened[0]!;
      await tx((t) => endAfterSale(t, [{ order_id: id, to: from as 2 | 3 | 4 }], by));
      // An order that was in after-sale while it was to be shipped is shipped now.
      if (from === 2) expect(await ship(id)).toHaveLength(1);
    }
    expect(await shop.brokenAudits()).toEqual([]);
  });

  test('orders shipped before a time are found by their last shipment, also after an after-sale', async () => {
    const [old, recent, returned] = [await order(3), await order(3), await order(3)];
    const ids = [old, returned];
    await database.sql`
      update orders.order_history set created_at = now() - interval '20 days' where order_id = any(${ids}::bigint[])`;
    await database.sql`
      update orders.orders set created_at = now() - interval '20 days' where id = any(${ids}::bigint[])`;
    await tx((t) => markAfterSale(t, [returned], by));
    await tx((t) => endAfterSale(t, [{ order_id: returned, to: 3 }], by));
    const found = await selectShippedBefore(database.sql, new Date(Date.now() - 10 * 86_400_000), 100);
    expect(found).toEqual([old]);
    const later = await selectShippedBefore(database.sql, new Date(Date.now() + 1_000), 1_000);
    expect(later).toEqual(expect.arrayContaining([old, recent, returned]));
    expect(await selectShippedBefore(database.sql, new Date(Date.now() + 1_000), 1)).toHaveLength(1);
  });
});

test('the lines of orders are read with and without locks, and a lock makes a second one wait', async () => {
  const [one, two] = [await order(2), await order(2)];
  const lines = await selectOrderLines(database.sql, [two, one, 2 ** 40]);
  expect(lines.map((row) => [row.id, row.items.map((item) => item.sku_id)])).toEqual([
    [one, skus],
    [two, skus],
  ]);
  expect(lines[0]).toMatchObject({ user_id: buyer.id, merchant_id: 1, status: 2, total_amount: 2580 });
  expect(lines[0]!.items[0]).toMatchObject({
    qty: 1,
    price: 1290,
    payable_amount: 1290,
    title: 'Enamel mug',
    attrs: [],
  });
  let ended = false;
  const second = await tx(async (t) => {
    expect(await lockOrdersForAfterSale(t, [two, one])).toEqual(lines);
    const waiting = tx(async (other) => {
      const locked = await lockOrdersForAfterSale(other, [one]);
      return { ended, status: locked[0]!.status };
    });
    await markAfterSale(t, [one], by);
    await t`select pg_sleep(0.2)`;
    ended = true;
    return { waiting };
  });
  expect(await second.waiting).toEqual({ ended: true, status: 5 });
});

describe('the answer of an order', () => {
  test('has the summary of its cases and the reviews of its lines, for the shopper and for staff', async () => {
    const [id, other] = [await order(3), await order(2)];
    summaries.set(id, summary);
    const { items } = await detail(id);
    const at = '2026-03-01T09:30:00+08:00';
    reviews.set(items[1].id, {
      ...{ id: 5, order_id: id, order_item_id: items[1].id, order_no: '1', product_id: 1, user_id: 1, merchant_id: 1 },
      ...{ product_score: 5, logistics_score: 4, content: '', images: ['/uploads/a.png'], edited_times: 0 },
      ...{ created_at: at, updated_at: at, user_nickname: 'Ann', user_avatar: '', appends: [], admin_reply: null },
    });
    const shown = await detail(id, 'zh-CN');
    expect(shown.after_sale_summary).toEqual(summary);
    expect(shown).not.toHaveProperty('has_after_sale');
    expect(shown.items[0]).not.toHaveProperty('review');
    expect(shown.items[1].review).toMatchObject({ id: 5, content: 'zh-CN', images: [`${shop.url}/uploads/a.png`] });
    const { data } = await shop.call('GET', `/admin/api/orders/${id}`, { token: admin });
    expect(data).toMatchObject({
      has_after_sale: true,
      after_sale_summary: summary,
      items: [{}, { review: { id: 5 } }],
    });
    const without = (await shop.call('GET', `/admin/api/orders/${other}`, { token: admin })).data;
    expect(without).toMatchObject({
      has_after_sale: false,
      after_sale_summary: { can_apply: false, latest_case_id: 0 },
    });
  });

  test('has_after_sale=true lists the orders with a case; false and an empty value list all', async () => {
    const [id, other] = [await order(3), await order(2)];
    summaries.clear();
    summaries.set(id, summary);
    summaries.set(other, summary);
    shippedBy.set('SF', [id]);
    const ids = async (query: string) => {
      const { data } = await shop.call('GET', `/admin/api/orders?size=100&${query}`, { token: admin });
      return { ids: data.list.map((row: { id: number }) => row.id), total: data.total };
    };
    expect(await ids('has_after_sale=true')).toEqual({ ids: [other, id], total: 2 });
    expect(await ids('has_after_sale=true&logistics_company=SF')).toEqual({ ids: [id], total: 1 });
    expect(await ids('has_after_sale=true&status=2')).toEqual({ ids: [other], total: 1 });
    const all = await ids('');
    expect(await ids('has_after_sale=false')).toEqual(all);
    expect(await ids('has_after_sale=')).toEqual(all);
  });
});
