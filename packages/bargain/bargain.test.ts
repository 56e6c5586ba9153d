import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nextCut } from './bargains/cut.ts';
import { freeReader } from './bargains/free-bargains.ts';
import { selectBuyable } from './bargains/purchase-store.ts';
import { maxReadBargains } from './limits.ts';
import { type Buyer, type Offered, openBargainShop } from './testing/bargain-shop.ts';

/** Bargains: without these rules a shop sells below the floor price, or one bargain buys twice. */
let shop: Shop;
let bargains: Awaited<ReturnType<typeof openBargainShop>>;
let offers: Offered[];
let [ann, bob, eve]: Buyer[] = [];
beforeAll(async () => {
  shop = await openShop();
  bargains = await openBargainShop(shop, { skus: 8 });
  ({ offers } = bargains);
  [ann, bob, eve] = [await shop.shopper(), await shop.shopper(), await shop.shopper()];
});
afterAll(async () => {
  if (!shop) return;
  await dispatchEvents(shop);
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  await shop.close();
});

const refusal = ({ code, message }: { code: number; message: string }) => [code, message];

describe('a bargain', () => {
  test('is opened, helped and read, field by field', async () => {
    const offer = offers[0]!;
    const bargain = await bargains.open(ann!, offer);
    expect(bargain).toEqual({
      id: expect.any(Number),
      activity_id: bargains.activity_id,
      activity_product_id: offer.row,
      activity_name: 'Mugs to bargain for',
      product_id: offer.product_id,
      sku_id: offer.sku_id,
      user_id: ann!.id,
      start_price: 10,
      floor_price: 6,
      current_price: 10,
      min_cut_amount: 0.01,
      max_cut_amount: 10,
      max_helpers: 50,
      help_count: 0,
      status: 'pending',
      status_label: 'Pending',
      expire_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/),
      created_at: expect.any(String),
      ended_at: null,
      order_id: 0,
    });
    expect(Date.parse(bargain.expire_at) - Date.parse(bargain.created_at)).toBe(24 * 60 * 60 * 1000);
    const { data } = await bargains.help(bob!, bargain.id);
    expect(Object.keys(data)).toEqual(['cut_amount']);
    expect(data.cut_amount).toBeGreaterThanOrEqual(0.01);
    expect(data.cut_amount).toBeLessThanOrEqual(4);
    const after = await bargains.read(eve!, bargain.id);
    expect(after).toMatchObject({ help_count: 1, current_price: Math.round(1_000 - data.cut_amount * 100) / 100 });
    const row = { id: expect.any(Number), bargain_order_id: bargain.id, user_id: bob!.id, cut_amount: data.cut_amount };
    const created_at = expect.any(String);
    expect(await bargains.helpers(bob!, bargain.id)).toEqual([{ ...row, user_nickname: bob!.username, created_at }]);
    expect(await bargains.helpers(eve!, bargain.id)).toEqual([{ ...row, user_nickname: 's***', created_at }]);
  });

  test('is one per shopper and SKU: a further call answers it, also when many come at once', async () => {
    const offer = offers[1]!;
    const opened = await Promise.all(Array.from({ length: 8 }, () => bargains.open(ann!, offer)));
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    expect((await bargains.open(bob!, offer)).id).not.toBe(opened[0].id);
    // One that has expired is failed, and a new one is opened.
    await bargains.passTime(opened[0].id);
    const next = await bargains.open(ann!, offer);
    expect(next).toMatchObject({ status: 'pending', current_price: 10 });
    expect(next.id).not.toBe(opened[0].id);
    expect(await bargains.read(ann!, opened[0].id)).toMatchObject({ status: 'failed', status_label: 'Failed' });
  });

  test('ends at the floor with the last helper who is allowed, and its owner gets a message', async () => {
    const offer = offers[2]!;
    await bargains.setOptions({ max_helpers: 2, min_cut_amount: 0.5, max_cut_amount: 0.5 });
    const { id } = await bargains.open(ann!, offer);
    await bargains.setOptions({ max_helpers: 50, min_cut_amount: 0.01, max_cut_amount: 10 });
    expect((await bargains.help(bob!, id)).data).toEqual({ cut_amount: 0.5 });
    expect((await bargains.help(eve!, id)).data).toEqual({ cut_amount: 3.5 });
    expect(await bargains.read(ann!, id)).toMatchObject({ current_price: 6, help_count: 2, status: 'success' });
    const zh = await shop.call('GET', `/api/v1/bargain/orders/${id}`, { token: ann!.token, lang: 'zh-CN' });
    expect(zh.data.status_label).toBe('砍价成功');
    // Until it is bought, a further call answers it.
    expect((await bargains.open(ann!, offer)).id).toBe(id);
    await dispatchEvents(shop);
    const { data } = await shop.call('GET', '/api/v1/messages', { token: ann!.token });
    expect(data.list).toContainEqual(
      expect.objectContaining({ title: 'Your bargain has succeeded', group: 'marketing' }),
    );
  });

  test('each reason not to open or help has its own text', async () => {
    const [first, offer] = [offers[0]!, offers[3]!];
    const { id } = await bargains.open(ann!, offer);
    expect(refusal(await bargains.help(bob!, 999_999))).toEqual([1, 'Bargain not found']);
    expect(refusal(await bargains.help(ann!, id))).toEqual([1, 'You cannot help your own bargain']);
    const small = await bargains.open(eve!, first);
    await shop.database.sql`update bargain.bargains set max_cut = min_cut where id = ${small.id}`;
    expect((await bargains.help(bob!, small.id)).data).toEqual({ cut_amount: 0.01 });
    expect(refusal(await bargains.help(bob!, small.id))).toEqual([1, 'You have helped this bargain already']);
    await bargains.passTime(id);
    expect(refusal(await bargains.help(bob!, id))).toEqual([1, 'The bargain has expired']);
    await Promise.all([bargains.sweep(), bargains.sweep()]);
    expect(refusal(await bargains.help(bob!, id))).toEqual([1, 'The bargain has failed']);
    expect(
      await shop.database
        .sql`select from runtime.outbox where name = 'bargain.failed' and subject = ${`bargain:${id}`}`,
    ).toHaveLength(1);
    const done = await bargains.succeeded(ann!, bob!, offer);
    expect(refusal(await bargains.help(eve!, done.id))).toEqual([1, 'The bargain has reached its floor price']);
    const open = (fields: object) =>
      shop.call('POST', '/api/v1/bargain/orders', {
        token: eve!.token,
        body: { activity_id: bargains.activity_id, product_id: offer.product_id, ...fields },
      });
    expect((await open({ sku_id: '' })).data).toMatchObject({ sku_id: first.sku_id });
    expect(refusal(await open({ sku_id: 999_999 }))).toEqual([1, 'The activity does not have this product']);
    expect((await open({ activity_id: 'x' })).message).toMatch(/^activity_id/);
    await bargains.setOptions({ status: 0 });
    expect(refusal(await open({}))).toEqual([1, 'The activity is not running']);
    await bargains.setOptions({ status: 1 });
    const changed = await shop.call('PUT', `/admin/api/bargain/activities/${bargains.activity_id}`, {
      token: bargains.staff,
      body: { min_cut_amount: 5, max_cut_amount: 4 },
    });
    expect(refusal(changed)).toEqual([400, 'max_cut_amount: must be at least min_cut_amount']);
    const negative = await shop.call('PUT', `/admin/api/bargain/activities/${bargains.activity_id}`, {
      token: bargains.staff,
      body: { min_cut_amount: -1 },
    });
    expect(refusal(negative)).toEqual([400, 'min_cut_amount: must be at least 0.01']);
    for (const path of [`/api/v1/bargain/orders/${id}`, `/api/v1/bargain/orders/${id}/helpers`])
      expect((await shop.call('GET', path)).status).toBe(401);
  });

  test('is cut at random within its bounds, never below the floor', () => {
    const bargain = {
      current_price: 1_000,
      floor_price: 600,
      min_cut: 10,
      max_cut: 20,
      max_helpers: 50,
      help_count: 0,
    };
    const cuts = Array.from({ length: 500 }, () => nextCut(bargain));
    expect([Math.min(...cuts), Math.max(...cuts)]).toEqual([10, 20]);
    expect(nextCut({ ...bargain, current_price: 605 })).toBe(5);
    expect(nextCut({ ...bargain, help_count: 49 })).toBe(400);
  });
});

describe('a successful bargain', () => {
  test('is bought once by its owner at its price; without it a line costs the start price', async () => {
    const offer = offers[4]!;
    expect(await bargains.order(ann!, offer)).toMatchObject({ total_amount: 10 });
    const { id } = await bargains.succeeded(ann!, bob!, offer);
    const items = [{ sku_id: offer.sku_id, activity_product_id: offer.row }];
    const quote = await shop.call('POST', '/api/v1/orders/quote', { token: ann!.token, body: { items } });
    expect(quote.data).toMatchObject({ goods_amount: 6, total_amount: 6 });
    const line = { sku_id: offer.sku_id, activity_product_id: offer.row };
    const inCart = async (buyer: Buyer) => {
      await bargains.send('POST', '/api/v1/cart/add', buyer.token, { ...line, qty: 1 });
      const cart = await bargains.send('GET', '/api/v1/cart', buyer.token);
      return cart.find((one: typeof line) => one.activity_product_id === offer.row).activity_snapshot.price;
    };
    expect([await inCart(ann!), await inCart(bob!)]).toEqual([6, 10]);
    expect(await bargains.order(bob!, offer)).toMatchObject({ total_amount: 10 });
    const bought = await bargains.order(ann!, offer);
    expect(bought).toMatchObject({ total_amount: 6 });
    expect(await bargains.read(ann!, id)).toMatchObject({ order_id: bought.id, status: 'success' });
    expect(await bargains.read(bob!, id)).toMatchObject({ order_id: 0 });
    expect(await bargains.order(ann!, offer)).toMatchObject({ total_amount: 10 });
    // The cancelled order makes it buyable again, also after another bargain was opened.
    const another = await bargains.open(ann!, offer);
    expect(another.id).not.toBe(id);
    await bargains.send('POST', `/api/v1/orders/${bought.id}/cancel`, ann!.token);
    expect(await bargains.read(ann!, id)).toMatchObject({ order_id: 0 });
    expect(await bargains.order(ann!, offer)).toMatchObject({ total_amount: 6 });
  });

  test('is bought in one piece: more pieces are refused', async () => {
    const offer = offers[5]!;
    const { sku_id, row: activity_product_id } = offer;
    const cart = { sku_id, activity_product_id, qty: 2 };
    await bargains.send('POST', '/api/v1/cart/add', ann!.token, cart);
    const several = await bargains.tryOrder(ann!, offer);
    expect(several.data).toMatchObject({ total_amount: 20 });
    await bargains.succeeded(ann!, bob!, offer);
    await bargains.send('POST', '/api/v1/cart/add', ann!.token, cart);
    expect(refusal(await bargains.tryOrder(ann!, offer))).toEqual([
      20001,
      'Only one piece can be bought at the price of a bargain',
    ]);
    await bargains.send('PUT', '/api/v1/cart/qty', ann!.token, { ...cart, qty: 1 });
    expect((await bargains.tryOrder(ann!, offer)).data).toMatchObject({ total_amount: 6 });
  });

  test('is buyable again after a full refund before the shipment; a repeated event changes nothing', async () => {
    const { id } = await bargains.succeeded(eve!, bob!, offers[6]!);
    const order = await bargains.order(eve!, offers[6]!);
    const event = { id: 1, name: 'order.after_sale_ended', subject: '', occurred_at: new Date() };
    const { sql } = shop.server.runtime;
    const read = (status: number) =>
      sql.begin(async (tx) => {
        await freeReader.read(tx, [{ ...event, data: { order_id: order.id, status } }]);
        return tx`select order_id from bargain.bargains where id = ${id}`;
      });
    expect(await read(4)).toEqual([{ order_id: order.id }]);
    await bargains.send('POST', `/api/v1/orders/${order.id}/cancel`, eve!.token);
    expect(await read(6)).toEqual([{ order_id: null }]);
    expect(await read(6)).toEqual([{ order_id: null }]);
  });

  test('is found for an order, however many bargains another shopper of the batch can buy', async () => {
    const { row, product_id, sku_id } = offers[6]!;
    const { sql } = shop.database;
    const [{ id }] = await sql<[{ id: number }]>`
      with many as (
        insert into bargain.bargains (activity_id, activity_product_id, activity_name, product_id, sku_id, owner_id, start_price,
          floor_price, current_price, min_cut, max_cut, max_helpers, status, expire_at, created_at, ended_at)
        select ${bargains.activity_id}, ${row}, 'Mugs', ${product_id}, ${sku_id},
          case when n > 2 * ${maxReadBargains}::int then ${bob!.id}::bigint else ${eve!.id}::bigint end,
          600, 600, 600, 1, 1, 1, 'success', now(), now(), now()
        from generate_series(1, 2 * ${maxReadBargains}::int + 1) as n returning id
      ) select max(id) as id from many`;
    const userIds = [eve!.id, bob!.id];
    const found = await selectBuyable(sql, { userIds, activityProductIds: [row], lock: false });
    expect(found).toHaveLength(maxReadBargains + 1);
    expect(found.at(-1)).toMatchObject({ id, owner_id: bob!.id });
  });

  test('is bought once by many orders at once', async () => {
    const offer = offers[7]!;
    const { id } = await bargains.succeeded(eve!, bob!, offer);
    const orders = await Promise.all(Array.from({ length: 12 }, () => bargains.order(eve!, offer)));
    const amounts = orders.map(({ total_amount }) => total_amount).sort();
    expect(amounts).toEqual([...Array(11).fill(10), 6]);
    const bought = orders.find(({ total_amount }) => total_amount === 6);
    expect(await bargains.read(eve!, id)).toMatchObject({ order_id: bought.id });
  });
});

test('many helps at once cut exactly to the floor, and no shopper helps twice', async () => {
  await bargains.setOptions({ max_helpers: 6, min_cut_amount: 0.01, max_cut_amount: 0.1 });
  const owner = await shop.shopper();
  const { id } = await bargains.open(owner, offers[0]!);
  const others = await Promise.all(Array.from({ length: 10 }, () => shop.shopper()));
  const answers = await Promise.all([owner, ...others, ...others].map((helper) => bargains.help(helper, id)));
  const cuts = answers.filter(({ code }) => code === 0).map(({ data }) => Math.round(data.cut_amount * 100));
  expect(cuts).toHaveLength(6);
  expect(cuts.reduce((sum, cut) => sum + cut, 0)).toBe(400);
  expect(await bargains.read(owner, id)).toMatchObject({ current_price: 6, help_count: 6, status: 'success' });
  const helps = await bargains.helpers(owner, id);
  expect(new Set(helps.map(({ user_id }: { user_id: number }) => user_id)).size).toBe(6);
  expect(
    await shop.database
      .sql`select from runtime.outbox where name = 'bargain.succeeded' and subject = ${`bargain:${id}`}`,
  ).toHaveLength(1);
});

test('the back office lists bargains with filters, and one bargain with its helpers', async () => {
  const list = (query: string) => bargains.send('GET', `/admin/api/bargain/orders${query}`, bargains.staff);
  const all = await list('?status=-1&activity_id=');
  const [newest] = all.list;
  expect(newest).toMatchObject({
    status: 'success',
    product_title: 'Enamel mug',
    user_nickname: expect.stringMatching(/^shopper/),
  });
  const counts = await Promise.all(
    ['pending', 'success', 'failed'].map(async (s) => (await list(`?status=${s}`)).total),
  );
  expect(counts.every((n) => n > 0)).toBe(true);
  expect(counts.reduce((sum, n) => sum + n, 0)).toBe(all.total);
  expect(await list('?activity_id=999999')).toEqual({ list: [], total: 0, page: 1, size: 20 });
  expect(await list('?page=2&size=1')).toMatchObject({ total: all.total, page: 2, size: 1 });
  expect(await bargains.send('GET', `/admin/api/bargain/orders/${newest.id}`, bargains.staff)).toEqual(newest);
  const helps = await bargains.send('GET', `/admin/api/bargain/orders/${newest.id}/helpers`, bargains.staff);
  expect(helps).toHaveLength(6);
  expect(helps[0].user_nickname).toMatch(/^shopper\d+$/);
  for (const path of ['999999', '999999/helpers'])
    expect((await shop.call('GET', `/admin/api/bargain/orders/${path}`, { token: bargains.staff })).code).toBe(1);
  expect((await shop.call('GET', '/admin/api/bargain/orders?status=open', { token: bargains.staff })).message).toMatch(
    /^status/,
  );
  const clerk = await shop.server.tokens.issue({ role: 'admin', id: 9, perms: ['group_buy:view'] });
  expect((await shop.call('GET', '/admin/api/bargain/orders', { token: clerk })).code).toBe(403);
});
