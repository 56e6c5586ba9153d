import { randomUUID } from 'node:crypto';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { dispatchEvents } from '@tradepost/testing/dispatch-events';
import { chinese, expectFields } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { mallOf } from './testing/mall-shop.ts';

/** Products for points and their exchanges, over HTTP. */
let shop: Shop;
let mall: ReturnType<typeof mallOf>;
let ann: Awaited<ReturnType<Shop['shopper']>>;
beforeAll(async () => {
  shop = await openShop();
  const staff = await shop.server.tokens.issue({
    role: 'admin',
    id: 1,
    perms: ['points_mall:view', 'points_mall:edit'],
  });
  mall = mallOf(shop, shop.database.sql, staff);
});
beforeEach(async () => {
  ann = await shop.shopper();
  await mall.give(ann.id, 1_000);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => shop?.close());

const productFields =
  'id i, title s, type s, type_label s, points_price i, stock i, sold_out b, sold_count i, cover s, images json, description s, ' +
  'status i, status_label s, sort i, limit_per_user i, limit_per_day i, coupon_id i, need_address b, virtual_content s';
const exchangeFields =
  'id i, exchange_no s, user_id i, product_id i, product_title s, product_type s, product_type_label s, product_cover s, ' +
  'points_cost i, qty i, status s, status_label s, address_snapshot o|null, tracking_no s, coupon_user_id i, ' +
  'virtual_content s, shipped_at t|null, completed_at t|null, remark s, created_at t';
const mine = (path: string, query = '') =>
  shop.call('GET', `/api/v1/points${path}${query}`, { token: ann.token, lang: 'en' });
const made = async (fields: Record<string, unknown> = {}, body: unknown = {}) => {
  const product = await mall.product(fields);
  const answer = await mall.exchange(ann, product.id, body);
  expect(answer.code, answer.message).toBe(0);
  return { product, exchange: answer.data };
};

describe('products', () => {
  test('a product of the merchant app has the defaults, and both surfaces show the fields of the contract', async () => {
    const body = { title: 'Bag', type: 'physical', points_price: '180', stock: '', cover: '', description: 'Cotton' };
    const product = await mall.product(body);
    expectFields(product, productFields);
    expect(product).toMatchObject({
      ...{
        points_price: 180,
        stock: 0,
        sold_out: false,
        status: 1,
        status_label: 'On Shelf',
        type_label: 'Physical Goods',
      },
      ...{ sold_count: 0, limit_per_user: 0, limit_per_day: 0, coupon_id: 0, need_address: false, images: '[]' },
    });
    const { data } = await shop.call('GET', '/api/v1/points/products?type=&page=1&size=100', { lang: 'zh-CN' });
    for (const row of data.list) expectFields(row, productFields);
    expect(data.list.find((row: { id: number }) => row.id === product.id).type_label).toMatch(chinese);
    expect(await mall.shelf(product.id)).toMatchObject({ title: 'Bag', description: 'Cotton' });
  });

  test('the console saves the whole row that it read; pictures are stored as paths', async () => {
    const url = `${shop.url}/uploads/2026/11/1795468397123456789_0123456789ab.png`;
    const product = await mall.product({
      stock: 5,
      cover: url,
      images: JSON.stringify([url, url]),
      sort: 7,
      need_address: 1,
    });
    expect(product).toMatchObject({ cover: url, images: JSON.stringify([url]), need_address: true, stock: 5, sort: 7 });
    const row = (await mall.admin('GET', '/products')).data.list[0];
    expect(row).toEqual(product);
    const saved = await mall.admin('PUT', `/products/${product.id}`, { ...row, title: 'Blue mug', unknown: { a: 1 } });
    expect(saved).toMatchObject({ code: 0, data: null });
    const [stored] = await shop.database.sql`
      select title, cover, images, stock_limit from points_mall.products where id = ${product.id}`;
    const path = '/uploads/2026/11/1795468397123456789_0123456789ab.png';
    expect(stored).toEqual({ title: 'Blue mug', cover: path, images: [path], stock_limit: 5 });
    // Absent fields stay; the list form of pictures is accepted too.
    expect((await mall.admin('PUT', `/products/${product.id}`, { images: [] })).code).toBe(0);
    expect(await mall.shelf(product.id)).toMatchObject({ title: 'Blue mug', images: '[]', stock: 5, cover: url });
  });

  test('shoppers see products on the shelf by sort, then newest; others are 404 and 403', async () => {
    const [low, off, high] = [
      await mall.product({ sort: 1, type: 'virtual', virtual_content: 'SECRET-CODE' }),
      await mall.product({ sort: 900_000, type: 'virtual', status: 0 }),
      await mall.product({ sort: 900_000, type: 'virtual' }),
    ];
    const { data } = await shop.call('GET', '/api/v1/points/products?type=virtual&page=1&size=100');
    const ids = data.list.map((row: { id: number }) => row.id);
    expect(ids[0]).toBe(high.id);
    expect(ids).toContain(low.id);
    expect(ids).not.toContain(off.id);
    expect(JSON.stringify([data, await mall.shelf(low.id)])).not.toContain('SECRET-CODE');
    expect(low.virtual_content).toBe('SECRET-CODE');
    const get = (id: number) => shop.call('GET', `/api/v1/points/products/${id}`);
    expect(await get(off.id)).toMatchObject({ status: 200, code: 403, data: null });
    expect(await get(2 ** 40)).toMatchObject({ status: 200, code: 404 });
    const listed = async (query: string) =>
      (await mall.admin('GET', `/products?size=1000&${query}`)).data.list.map((row: { id: number }) => row.id);
    expect(await listed('status=-1')).toEqual(expect.arrayContaining([low.id, off.id, high.id]));
    expect(await listed('status=0')).toEqual([off.id]);
    expect(await listed('type=physical&status=')).not.toContain(high.id);
    await mall.admin('PUT', `/products/${off.id}/status`, { status: 1 });
    expect((await get(off.id)).code).toBe(0);
  });

  test.each<[string, Record<string, unknown>]>([
    ['points_price', { points_price: 0 }],
    ['points_price', { points_price: 1.5 }],
    ['stock', { stock: -2 }],
    ['type', { type: 'money' }],
    ['title', { title: '' }],
    ['limit_per_user', { limit_per_user: -1 }],
    ['limit_per_day', { limit_per_day: 1_000_001 }],
    ['cover', { cover: 'javascript:alert(1)' }],
    ['images', { images: '{"a":1}' }],
    ['images', { images: '[not json' }],
    ['images', { images: ['data:text/html,x'] }],
    ['coupon_id', { type: 'coupon', coupon_id: 99 }],
  ])('%s of %j is refused by name', async (field, fields) => {
    const refused = await mall.admin('POST', '/products', {
      title: 'Mug',
      type: 'physical',
      points_price: 1,
      ...fields,
    });
    expect(refused).toMatchObject({ status: 200, code: 400, message: expect.stringContaining(field) });
    const { id } = await mall.product({ status: 0 });
    expect((await mall.admin('PUT', `/products/${id}`, fields)).code).toBe(400);
  });

  test('a product with open exchanges is not deleted; one with ended exchanges is, and they stay', async () => {
    const { product, exchange } = await made();
    const refused = await mall.admin('DELETE', `/products/${product.id}`);
    expect(refused).toMatchObject({ status: 200, code: 500, message: expect.stringContaining('1 exchanges') });
    await mall.admin('PUT', `/exchanges/${exchange.id}/complete`);
    expect((await mall.admin('DELETE', `/products/${product.id}`)).code).toBe(0);
    expect((await mall.admin('DELETE', `/products/${product.id}`)).code).toBe(404);
    expect((await mine(`/exchanges/${exchange.id}`)).data).toMatchObject({ product_title: 'Mug', status: 'completed' });
    const [log] = await shop.database.sql`
      select operation from change_log.changes where table_name = 'points_mall.products' and row_id = ${String(product.id)}
      order by id desc limit 1`;
    expect(log!.operation).toBe('delete');
  });
});

describe('stock', () => {
  const stockOf = async (id: number) => {
    const { stock, sold_out, sold_count } = await mall.shelf(id);
    return [stock, sold_out, sold_count];
  };

  test('a sold-out product is refused and shown as sold out, and never becomes unlimited', async () => {
    const { id } = await mall.product({ stock: 3, points_price: 1 });
    expect((await mall.exchange(ann, id, { qty: 4 })).message).toContain('3');
    await mall.exchange(ann, id, { qty: 2 });
    expect(await stockOf(id)).toEqual([1, false, 2]);
    await mall.exchange(ann, id);
    expect(await stockOf(id)).toEqual([-1, true, 3]);
    expect(await mall.exchange(ann, id)).toMatchObject({ status: 200, code: 500, message: 'The product is sold out' });
    // The console saves the row that it reads.
    const row = (await mall.admin('GET', '/products?size=1000')).data.list.find(
      (each: { id: number }) => each.id === id,
    );
    await mall.admin('PUT', `/products/${id}`, row);
    expect((await mall.exchange(ann, id)).code).toBe(500);
    // Staff fill it again, end its stock, and remove the limit.
    await mall.admin('PUT', `/products/${id}`, { stock: 1 });
    expect(await stockOf(id)).toEqual([1, false, 3]);
    await mall.admin('PUT', `/products/${id}`, { stock: -1 });
    expect(await stockOf(id)).toEqual([-1, true, 3]);
    await mall.admin('PUT', `/products/${id}`, { stock: 0 });
    expect(await stockOf(id)).toEqual([0, false, 3]);
    expect((await mall.exchange(ann, id)).code).toBe(0);
  });

  test('a form that was read before exchanges does not bring their pieces back', async () => {
    const { id, ...form } = await mall.product({ stock: 5, points_price: 1 });
    await mall.exchange(ann, id, { qty: 2 });
    await mall.admin('PUT', `/products/${id}`, form);
    expect(await stockOf(id)).toEqual([3, false, 2]);
    await mall.admin('PUT', `/products/${id}`, { ...form, stock: 8 });
    expect(await stockOf(id), 'three more than the form had').toEqual([6, false, 2]);
    await mall.admin('PUT', `/products/${id}`, { ...form, stock: 1 });
    expect(await stockOf(id)).toEqual([-1, true, 2]);
  });
});

describe('exchanges', () => {
  test('goods wait for their shipment at the default address, shipped by staff, confirmed by the shopper', async () => {
    const { exchange } = await made({ need_address: true, cover: '/uploads/a.png' }, { qty: '2' });
    expectFields(exchange, exchangeFields);
    expect(exchange).toMatchObject({
      ...{ exchange_no: expect.stringMatching(/^EX\d{14}\d{6}$/), user_id: ann.id, product_title: 'Mug', qty: 2 },
      ...{ points_cost: 200, status: 'pending_ship', status_label: 'Pending Shipment', tracking_no: '' },
      ...{ coupon_user_id: 0, shipped_at: null, completed_at: null, product_cover: `${shop.url}/uploads/a.png` },
    });
    expect(exchange.address_snapshot).toMatchObject({
      name: 'Ann',
      phone: '13800000000',
      address: '1 Road',
      city: 'Hangzhou',
    });
    expect(await mall.balance(ann.id)).toBe(800);
    const [log] = await shop.database.sql`
      select type, points, related_id from points.logs where user_id = ${ann.id} order by id desc limit 1`;
    expect(log).toEqual({ type: 3, points: -200, related_id: exchange.id });

    await mall.admin('PUT', `/exchanges/${exchange.id}/ship`, { tracking_no: 'SF1' });
    const shipped = (await mall.admin('GET', `/exchanges/${exchange.id}`)).data;
    expectFields(shipped, `${exchangeFields}, user_nickname s`);
    expect(shipped).toMatchObject({ status: 'shipped', tracking_no: 'SF1', user_nickname: ann.username });
    expect(shipped.shipped_at).not.toBeNull();
    const confirm = () =>
      shop.call('POST', `/api/v1/points/exchanges/${exchange.id}/confirm`, { token: ann.token, lang: 'en' });
    expect(await confirm()).toMatchObject({ code: 0, data: null });
    expect(await confirm()).toMatchObject({ status: 200, code: 500, message: expect.stringContaining('Completed') });
    expect((await mine('/exchanges', '?status=completed')).data.list[0]).toMatchObject({
      id: exchange.id,
      status: 'completed',
    });
    expect((await mine('/exchanges', '?status=shipped')).data).toMatchObject({ list: [], total: 0 });
  });

  test('the merchant app ships without a body', async () => {
    const { exchange } = await made();
    expect((await mall.admin('PUT', `/exchanges/${exchange.id}/ship`)).code).toBe(0);
    expect((await mine(`/exchanges/${exchange.id}`)).data).toMatchObject({ status: 'shipped', tracking_no: '' });
  });

  test('an address that is sent is used; without one and without a default, only products that need one are refused', async () => {
    const sent = { name: 'Bo', phone: '13900000000', province: '', city: 'Wuhan', district: '', address: '2 Road' };
    const { exchange } = await made({}, { address_snapshot: sent });
    expect(exchange.address_snapshot).toEqual({ ...sent, detail: '2 Road' });
    const { id } = await mall.product({ need_address: true });
    expect(await mall.exchange(ann, id, { address_snapshot: { name: 'Bo' } })).toMatchObject({
      code: 400,
      message: expect.stringContaining('address_snapshot'),
    });
    await shop.call('DELETE', `/api/v1/addresses/${ann.address_id}`, { token: ann.token });
    expect(await mall.exchange(ann, id)).toMatchObject({
      status: 200,
      code: 500,
      message: expect.stringContaining('address'),
    });
    expect((await made()).exchange.address_snapshot).toBeNull();
    expect((await mall.exchange(ann, id, { address_snapshot: sent })).code).toBe(0);
  });

  test('a virtual product is completed at once, with its content', async () => {
    const { exchange } = await made({ type: 'virtual', virtual_content: 'CODE-1' });
    expect(exchange).toMatchObject({ status: 'completed', virtual_content: 'CODE-1', address_snapshot: null });
    expect(exchange.completed_at).toBe(exchange.created_at);
  });

  test('a coupon that nothing can issue is refused and costs nothing', async () => {
    const { id } = await mall.product({ type: 'coupon' });
    expect(await mall.exchange(ann, id)).toMatchObject({ status: 200, code: 500, data: null });
    expect(await mall.balance(ann.id)).toBe(1_000);
  });

  test('a coupon of the shop is issued for each piece, within its limits', async () => {
    const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const coupon = { name: '5 off', type: 3, discount: 5, per_limit: 2 };
    const { data } = await shop.call('POST', '/admin/api/marketing/coupons', { token: staff, body: coupon });
    const { exchange, product } = await made({ type: 'coupon', coupon_id: data.id, points_price: 10 }, { qty: 2 });
    expect(exchange).toMatchObject({
      status: 'completed',
      points_cost: 20,
      coupon_user_ids: [expect.any(Number), expect.any(Number)],
    });
    const owned = (await shop.call('GET', '/api/v1/user/coupons', { token: ann.token })).data;
    expect(owned.map(({ id }: { id: number }) => id).sort()).toEqual([...exchange.coupon_user_ids].sort());
    expect((await mall.exchange(ann, product.id)).message).toMatch(/as many as you may have/);
    expect(await mall.balance(ann.id)).toBe(980);
  });

  test('a cancellation returns points and stock, and the inbox message has its reason', async () => {
    const { product, exchange } = await made({ stock: 2 }, { qty: 2 });
    expect(await mall.shelf(product.id)).toMatchObject({ stock: -1, sold_count: 2 });
    const cancel = () => mall.admin('PUT', `/exchanges/${exchange.id}/cancel`, { reason: 'Broken in the warehouse' });
    expect(await cancel()).toMatchObject({ code: 0, data: null });
    expect(await cancel()).toMatchObject({ status: 200, code: 500, message: expect.stringContaining('Canceled') });
    expect(await mall.balance(ann.id)).toBe(1_000);
    const remarksIn = async (path: string, token: string, lang: string) =>
      (await shop.call('GET', path, { token, lang })).data.list
        .slice(0, 2)
        .map((log: { remark: string }) => log.remark);
    const { exchange_no } = exchange;
    expect(await remarksIn('/api/v1/points/logs', ann.token, 'en')).toEqual([
      `Exchange ${exchange_no} cancelled`,
      `Exchange ${exchange_no}`,
    ]);
    const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    expect(await remarksIn(`/admin/api/points/logs?user_id=${ann.id}&type=3`, staff, 'zh-CN')).toEqual([
      `积分兑换 ${exchange_no} 已取消，积分退回`,
      `积分兑换 ${exchange_no}`,
    ]);
    expect(await mall.shelf(product.id)).toMatchObject({ stock: 2, sold_count: 0 });
    expect((await mine(`/exchanges/${exchange.id}`)).data).toMatchObject({
      status: 'canceled',
      remark: 'Broken in the warehouse',
    });
    await dispatchEvents(shop);
    const { data } = await shop.call('GET', '/api/v1/messages?group=order', { token: ann.token, lang: 'en' });
    expect(data.list[0]).toMatchObject({
      title: 'Exchange cancelled',
      content: expect.stringMatching(/200 points .*Broken in the warehouse/),
      data: { exchange_id: exchange.id },
    });
    for (const move of ['ship', 'complete'])
      expect((await mall.admin('PUT', `/exchanges/${exchange.id}/${move}`)).code).toBe(500);
  });

  test('a shipped exchange writes a message with its tracking number', async () => {
    const { exchange } = await made();
    await mall.admin('PUT', `/exchanges/${exchange.id}/ship`, { tracking_no: 'SF77' });
    await dispatchEvents(shop);
    for (const lang of ['en', 'zh-CN']) {
      const { data } = await shop.call('GET', '/api/v1/messages?group=order', { token: ann.token, lang });
      expect(data.list[0].content).toContain('SF77');
    }
  });

  test('refusals: off the shelf, missing, too few points, limits in all and for a day of the shop', async () => {
    const off = await mall.product({ status: 0 });
    expect((await mall.exchange(ann, off.id)).code).toBe(403);
    expect((await mall.exchange(ann, 2 ** 40)).code).toBe(404);
    const expensive = await mall.product({ points_price: 501 });
    const refused = await mall.exchange(ann, expensive.id, { qty: 2 });
    expect(refused).toMatchObject({ status: 200, code: 500, message: expect.stringMatching(/1002 .*1000/) });
    expect((await mall.exchange(ann, expensive.id, { qty: 2 }, { lang: 'zh-CN' })).message).toMatch(chinese);

    const { id } = await mall.product({ points_price: 1, limit_per_user: 3, limit_per_day: 2 });
    const at = (time: string) => vi.spyOn(shop.server.runtime, 'now').mockReturnValue(new Date(`${time}+08:00`));
    at('2026-03-01T23:59:59');
    expect((await mall.exchange(ann, id, { qty: 3 })).message).toContain('At most 2');
    const first = await mall.exchange(ann, id, { qty: 2 });
    expect(first.data.exchange_no).toMatch(/^EX20260301235959/);
    expect((await mall.exchange(ann, id)).message).toContain('in a day');
    at('2026-03-02T00:00:00');
    expect((await mall.exchange(ann, id, { qty: 2 })).message).toContain('At most 3');
    expect((await mall.exchange(ann, id)).code).toBe(0);
    expect((await mall.exchange(ann, id)).code).toBe(500);
    // Cancelled pieces do not count.
    await mall.admin('PUT', `/exchanges/${first.data.id}/cancel`, {});
    expect((await mall.exchange(ann, id)).code).toBe(0);
    for (const qty of [0, -1, 1.5, 101, 'x']) expect((await mall.exchange(ann, id, { qty })).code).toBe(400);
  });

  test('a repeat with its Idempotency-Key gets the first exchange, also after a crash', async () => {
    const { id } = await mall.product();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await mall.exchange(ann, id, {}, { headers });
    await shop.database.sql`
      update runtime.idempotency_keys set answer = null, status = null, code = null, instance = 'gone'
      where key = ${headers['idempotency-key']}`;
    expect((await mall.exchange(ann, id, {}, { headers })).body).toEqual(first.body);
    expect(await mall.balance(ann.id)).toBe(900);
    expect((await mine('/exchanges')).data.total).toBe(1);
  });

  test('a shopper reaches only own exchanges; the mall needs its permissions', async () => {
    const { exchange } = await made();
    const bo = await shop.shopper();
    const as = (method: string, path: string) =>
      shop.call(method, `/api/v1/points/exchanges${path}`, { token: bo.token });
    expect((await as('GET', `/${exchange.id}`)).code).toBe(404);
    expect((await as('POST', `/${exchange.id}/confirm`)).code).toBe(404);
    expect((await as('GET', '')).data).toMatchObject({ list: [], total: 0 });
    const all = (await mall.admin('GET', `/exchanges?user_id=${ann.id}&status=-1`)).data;
    expect(all).toMatchObject({ total: 1, list: [{ id: exchange.id, user_nickname: ann.username }] });
    const clerk = await shop.server.tokens.issue({ role: 'admin', id: 2, perms: ['points_mall:view'] });
    const put = await shop.call('PUT', `/admin/api/points/exchanges/${exchange.id}/cancel`, { token: clerk });
    expect(put.code).toBe(403);
  });
});

test('after all of this the audits find nothing', async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
