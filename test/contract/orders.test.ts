import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields, expectMoneyAddsUp, noAfterSale } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

/** The API contract of orders: which lines are ordered, refusals, payment, cancellation, and the rows that they write. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterEach(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
afterAll(() => shop?.close());

type Buyer = Awaited<ReturnType<typeof buyer>>;
/** A shopper with functions for the routes. */
async function buyer() {
  const { id, token, address_id } = await shop.shopper();
  const get = async (path: string) => (await shop.call('GET', path, { token })).data;
  return {
    id,
    token,
    address_id,
    add: (sku_id: number, qty = 1) => shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id, qty } }),
    cart: async () =>
      ((await get('/api/v1/cart')) as { sku_id: number; qty: number }[]).map((line) => [line.sku_id, line.qty]),
    place: (body: object = {}, lang = 'en') =>
      shop.call('POST', '/api/v1/orders', { token, lang, body: { address_id, ...body } }),
    order: (id: number) => get(`/api/v1/orders/${id}`),
    list: (query = '') => get(`/api/v1/orders${query}`),
    pay: (id: number, lang = 'en') => shop.call('POST', `/api/v1/orders/${id}/pay`, { token, lang }),
    cancel: (id: number, lang = 'en') => shop.call('POST', `/api/v1/orders/${id}/cancel`, { token, lang }),
  };
}
/** An unpaid order of one piece. */
async function placed(who: Buyer, stock = 5) {
  const { sku_ids } = await insertProduct(shop.database, { stocks: [stock] });
  const { data } = await who.place({ items: [{ sku_id: sku_ids[0] }] });
  return { id: data.id as number, order_no: data.order_no as string, sku_id: sku_ids[0]! };
}
const linesOf = (order: { items: { sku_id: number; qty: number }[] }) =>
  order.items.map((item) => [item.sku_id, item.qty]);
const stockOf = async (sku: number) => {
  const [row] = await shop.database
    .sql`select stock, reserved_stock as reserved, sold from catalog.product_skus where id = ${sku}`;
  return { ...row! };
};

describe('placing an order', () => {
  test('returns the created order with every field of the API contract', async () => {
    const ann = await buyer();
    const { sku_ids } = await insertProduct(shop.database, { price: 1999, stocks: [5, 7] });
    await ann.add(sku_ids[0]!, 3);
    await ann.add(sku_ids[1]!);
    const { data } = await ann.place({ remark: 'Ring twice', payment_method: 'alipay' });
    expectFields(data, contract.order);
    expectFields(data.amount_breakdown, contract.breakdown);
    expectMoneyAddsUp(data);
    expect(data).toMatchObject({
      user_id: ann.id,
      status: 1,
      status_label: 'Pending Payment',
      inventory_status: 'reserved',
      payment_method: 'alipay',
      goods_amount: 79.96,
      discount_amount: 0,
      freight_amount: 0,
      total_amount: 79.96,
      remark: 'Ring twice',
      tracking_no: '',
      paid_at: null,
    });
    expect(data.order_no).toMatch(/^\d{19}$/);
    expect(Math.abs(Number(data.order_no.slice(0, 13)) - Date.now()), 'the first 13 digits are the time').toBeLessThan(
      60_000,
    );
  });

  test('the order keeps address, title and price of the time of the order', async () => {
    const ann = await buyer();
    const { id: product, sku_ids } = await insertProduct(shop.database, { title: 'Old title', price: 1000 });
    const { data } = await ann.place({ items: [{ sku_id: sku_ids[0] }] });
    await shop.call('DELETE', `/api/v1/addresses/${ann.address_id}`, { token: ann.token });
    await shop.database.sql`update catalog.products set title = 'New title' where id = ${product}`;
    await shop.database.sql`update catalog.product_skus set price = 9900 where id = ${sku_ids[0]!}`;
    const order = await ann.order(data.id);
    expectFields(order.address_snapshot, contract.addressSnapshot);
    expect(order.address_snapshot).toMatchObject({
      name: 'Ann',
      phone: '13800000000',
      city: 'Hangzhou',
      detail: '1 Road',
    });
    expect(order.items[0]).toMatchObject({ title: 'Old title', price: 10 });
    expect(order.total_amount).toBe(10);
  });

  test('the default payment method is wechat', async () => {
    const ann = await buyer();
    const { sku_ids } = await insertProduct(shop.database);
    for (const payment_method of [undefined, null, ''])
      expect((await ann.place({ items: [{ sku_id: sku_ids[0] }], payment_method })).data.payment_method).toBe('wechat');
    expect(await ann.place({ items: [{ sku_id: sku_ids[0] }], payment_method: 'cash' })).toMatchObject({
      code: 400,
      message: expect.stringContaining('payment_method'),
    });
  });

  test('two orders have different numbers', async () => {
    const ann = await buyer();
    const { sku_ids } = await insertProduct(shop.database);
    const made = await Promise.all(Array.from({ length: 30 }, () => ann.place({ items: [{ sku_id: sku_ids[0] }] })));
    expect(new Set(made.map((answer) => answer.data.order_no)).size).toBe(30);
  });

  test('the order expires after fifteen minutes', async () => {
    const ann = await buyer();
    const { order_no } = await placed(ann);
    const [row] = await shop.database.sql`
      select extract(epoch from r.expires_at - o.created_at)::int as reserved, extract(epoch from o.expires_at - o.created_at)::int as unpaid
      from orders.orders o join inventory.inventory_reservation r on r.biz_no = o.order_no where o.order_no = ${order_no}`;
    expect({ ...row! }).toEqual({ reserved: 900, unpaid: 900 });
  });
});

describe('which lines are ordered', () => {
  /** Fills a cart with three lines: a x 2, b x 1, c x 3. */
  async function fullCart() {
    const ann = await buyer();
    const { id: product, sku_ids } = await insertProduct(shop.database, { stocks: [50, 50, 50, 50] });
    const [a, b, c, d] = sku_ids as [number, number, number, number];
    await ann.add(a, 2);
    await ann.add(b, 1);
    await ann.add(c, 3);
    return { ann, a, b, c, d, product };
  }
  const order = async (ann: Buyer, body: object) => linesOf(await ann.order((await ann.place(body)).data.id));

  test('neither items nor sku_ids: the whole cart, in its order', async () => {
    for (const body of [{}, { items: [], sku_ids: [] }, { items: null, sku_ids: null }]) {
      const { ann, a, b, c } = await fullCart();
      expect(await order(ann, body)).toEqual([
        [a, 2],
        [b, 1],
        [c, 3],
      ]);
      expect(await ann.cart()).toEqual([]);
    }
  });

  test('sku_ids select cart lines; the others stay in the cart', async () => {
    const { ann, a, b, c } = await fullCart();
    expect(await order(ann, { sku_ids: [c, a, a] })).toEqual([
      [a, 2],
      [c, 3],
    ]);
    expect(await ann.cart()).toEqual([[b, 1]]);
  });

  test('items take precedence over sku_ids', async () => {
    const { ann, a, b, c } = await fullCart();
    expect(await order(ann, { items: [{ sku_id: b, activity_product_id: 0 }], sku_ids: [a, c] })).toEqual([[b, 1]]);
    expect(await ann.cart()).toEqual([
      [a, 2],
      [c, 3],
    ]);
  });

  test('an item that is not in the cart is ordered directly, one piece', async () => {
    const { ann, a, b, c, d } = await fullCart();
    expect(await order(ann, { items: [{ sku_id: d }, { sku_id: a, activity_product_id: '' }] })).toEqual([
      [d, 1],
      [a, 2],
    ]);
    expect(await ann.cart()).toEqual([
      [b, 1],
      [c, 3],
    ]);
  });

  test('buy now works with an empty cart; a repeated item counts once', async () => {
    const ann = await buyer();
    const { sku_ids } = await insertProduct(shop.database);
    const item = { sku_id: sku_ids[0], activity_product_id: 0 };
    expect(await order(ann, { items: [item, item] })).toEqual([[sku_ids[0], 1]]);
  });

  test('a sku_id that is not in the cart is ignored', async () => {
    const { ann, b, d } = await fullCart();
    expect(await order(ann, { sku_ids: [b, d] })).toEqual([[b, 1]]);
  });

  test('a line whose SKU is not for sale any more is skipped and stays in the cart', async () => {
    const { ann, a, b, c } = await fullCart();
    await shop.database.sql`update catalog.product_skus set status = 'inactive' where id = ${b}`;
    expect(await order(ann, {})).toEqual([
      [a, 2],
      [c, 3],
    ]);
    expect(await ann.cart()).toEqual([[b, 1]]);
  });

  test('a line whose product was deleted is skipped', async () => {
    const { ann, a, product } = await fullCart();
    const deleted = await insertProduct(shop.database);
    await ann.add(deleted.sku_ids[0]!);
    await shop.database.sql`delete from catalog.products where id = ${deleted.id}`;
    expect((await order(ann, {}))[0]).toEqual([a, 2]);
    expect(product).toBeGreaterThan(0);
  });
});

describe('an order is refused', () => {
  const refusals: [string, string, (ann: Buyer) => Promise<object>][] = [
    ['with an empty cart', 'Cart is empty', async () => ({})],
    ['with sku_ids and an empty cart', 'Cart is empty', async () => ({ sku_ids: [1] })],
    [
      'when no selected line is in the cart',
      'No valid products selected',
      async (ann) => {
        await ann.add((await insertProduct(shop.database)).sku_ids[0]!);
        return { sku_ids: [2 ** 40] };
      },
    ],
    ['when the only SKU does not exist', 'No valid products selected', async () => ({ items: [{ sku_id: 2 ** 40 }] })],
    [
      'when the only product is not on sale',
      'No valid products selected',
      async (ann) => {
        const { id, sku_ids } = await insertProduct(shop.database);
        await ann.add(sku_ids[0]!);
        await shop.database.sql`update catalog.products set status = 0 where id = ${id}`;
        return {};
      },
    ],
    [
      'for an unknown address',
      'Delivery address not found',
      async () => ({ address_id: 2 ** 40, items: [{ sku_id: 1 }] }),
    ],
    [
      'for an address of another shopper',
      'Delivery address not found',
      async () => ({ address_id: (await buyer()).address_id, items: [{ sku_id: 1 }] }),
    ],
    ['for a wrong address before anything else', 'Delivery address not found', async () => ({ address_id: 2 ** 40 })],
    [
      'with too little stock',
      'Insufficient stock',
      async (ann) => {
        await ann.add((await insertProduct(shop.database, { stocks: [2] })).sku_ids[0]!, 3);
        return {};
      },
    ],
    [
      'with too little stock of one of two lines',
      'Insufficient stock',
      async (ann) => {
        const { sku_ids } = await insertProduct(shop.database, { stocks: [10, 0] });
        await ann.add(sku_ids[0]!);
        await ann.add(sku_ids[1]!);
        return {};
      },
    ],
  ];
  test.each(refusals)('%s: "%s"', async (_when, message, prepare) => {
    const ann = await buyer();
    const body = await prepare(ann);
    const before = await ann.cart();
    expect(await ann.place(body)).toMatchObject({ status: 200, code: 20001, message });
    expect(await ann.place(body, 'zh-CN')).toMatchObject({ code: 20001, message: expect.stringMatching(chinese) });
    expect(await ann.cart(), 'the cart is not changed').toEqual(before);
    expect((await ann.list()).total).toBe(0);
  });

  test('an unknown activity product is refused', async () => {
    const ann = await buyer();
    const { sku_ids } = await insertProduct(shop.database);
    expect((await ann.place({ items: [{ sku_id: sku_ids[0], activity_product_id: 9 }] })).code).toBe(20001);
  });

  test('when other orders reserve the stock, and accepted after they were cancelled', async () => {
    const [ann, bob] = [await buyer(), await buyer()];
    const { id, sku_id } = await placed(ann, 1);
    expect(await bob.place({ items: [{ sku_id }] })).toMatchObject({ code: 20001, message: 'Insufficient stock' });
    await ann.cancel(id);
    expect((await bob.place({ items: [{ sku_id }] })).code).toBe(0);
  });

  test.each([
    ['address_id', {}, { address_id: undefined }],
    ['items[0].sku_id', { items: [{}] }, {}],
    ['sku_ids', { sku_ids: 'x' }, {}],
  ])('an invalid %s is named', async (field, body, more) => {
    const ann = await buyer();
    expect(await ann.place({ ...body, ...more })).toMatchObject({
      status: 200,
      code: 400,
      message: expect.stringContaining(field),
    });
  });
});

describe('list and detail', () => {
  test('have every field of the API contract', async () => {
    const ann = await buyer();
    const { id: product, sku_ids } = await insertProduct(shop.database, { stocks: [5, 7] });
    await shop.database.sql`update catalog.products set cover = '/uploads/demo/enamel-mug.svg' where id = ${product}`;
    await ann.add(sku_ids[0]!, 2);
    await ann.add(sku_ids[1]!);
    const { id } = (await ann.place()).data;
    const list = await ann.list();
    expectFields(list, contract.paged);
    for (const order of [list.list[0], await ann.order(id)]) {
      expectFields(order, `${contract.order}, ${contract.orderView}`);
      expectFields(order.amount_breakdown, contract.breakdown);
      expectMoneyAddsUp(order);
      expect(order).toMatchObject({ activity_type: '', activity_name: '', shipments: [] });
      expect(order.after_sale_summary).toEqual(noAfterSale);
      for (const item of order.items) {
        expectFields(item, contract.orderItem);
        expect(item).toMatchObject({
          order_item_id: item.id,
          order_id: id,
          product_id: product,
          cover: `${shop.url}/uploads/demo/enamel-mug.svg`,
        });
      }
      expect(linesOf(order)).toEqual([
        [sku_ids[0], 2],
        [sku_ids[1], 1],
      ]);
    }
  });

  test('newest first, filtered by status; 0, empty and absent are all', async () => {
    const ann = await buyer();
    const [a, b, c] = [await placed(ann), await placed(ann), await placed(ann)];
    await ann.pay(b.id);
    await ann.cancel(c.id);
    const ids = async (query: string) => (await ann.list(query)).list.map((order: { id: number }) => order.id);
    for (const all of ['', '?status=0', '?status=', '?page=&size=&status='])
      expect(await ids(all)).toEqual([c.id, b.id, a.id]);
    expect([await ids('?status=1'), await ids('?status=2'), await ids('?status=6')]).toEqual([[a.id], [b.id], [c.id]]);
    for (const none of [3, 4, 5]) expect(await ann.list(`?status=${none}`)).toMatchObject({ list: [], total: 0 });
  });

  test.each([
    ['', 1, 20, 20],
    ['?page=3', 3, 20, 12],
    ['?size=50', 1, 50, 50],
    ['?size=51', 1, 20, 20],
    ['?size=0', 1, 20, 20],
    ['?size=-7', 1, 20, 20],
    ['?page=0&size=', 1, 20, 20],
    ['?page=99', 99, 20, 0],
  ])('paging "%s"', async (query, page, size, rows) => {
    const ann = await buyer();
    const { id } = await placed(ann);
    await ann.cancel(id);
    const { sql } = shop.database;
    // Fifty-two copies of one order, without stock: only the list reads them.
    await sql`
      insert into orders.orders (order_no, user_id, status, goods_amount, total_amount, address_snapshot, expires_at)
      select order_no || '-' || n, user_id, 6, goods_amount, total_amount, address_snapshot, expires_at
      from orders.orders, generate_series(1, 51) as n where id = ${id}`;
    try {
      const data = await ann.list(query);
      expect(data.list).toHaveLength(rows);
      expect(data).toMatchObject({ total: 52, page, size });
    } finally {
      await sql`delete from orders.orders where order_no like '%-%'`;
    }
  });

  test.each([
    [1, 'Pending Payment'],
    [2, 'Pending Shipment'],
    [3, 'Pending Receipt'],
    [4, 'Completed'],
    [5, 'After-Sale'],
    [6, 'Canceled'],
  ])('status %s has the label "%s", and a Chinese one for a Chinese reader', async (status, label) => {
    const ann = await buyer();
    const { id } = await placed(ann);
    const { sql } = shop.database;
    await sql`update orders.orders set status = ${status} where id = ${id}`;
    try {
      const read = async (query: string, lang: string) =>
        (await shop.call('GET', `/api/v1/orders/${id}${query}`, { token: ann.token, lang })).data.status_label;
      expect(await read('', 'en')).toBe(label);
      expect(await read('?lang=en', 'zh-CN')).toBe(label);
      expect(await read('', 'zh-CN')).toMatch(chinese);
      expect(await read('?lang=zh-CN', 'en')).toMatch(chinese);
      expect(
        (await shop.call('GET', '/api/v1/orders?lang=zh-CN', { token: ann.token })).data.list[0].status_label,
      ).toMatch(chinese);
    } finally {
      await sql`update orders.orders set status = 1 where id = ${id}`;
    }
  });

  test('every inventory status has a label in the language of the reader', async () => {
    const ann = await buyer();
    const { id } = await placed(ann);
    const { sql } = shop.database;
    try {
      for (const status of ['none', 'pending', 'reserved', 'confirmed', 'released', 'failed']) {
        await sql`update orders.orders set inventory_status = ${status} where id = ${id}`;
        const read = async (lang: string) =>
          (await shop.call('GET', `/api/v1/orders/${id}`, { token: ann.token, lang })).data.inventory_status_label;
        expect(await read('en'), status).toMatch(/^[A-Z]/);
        expect(await read('zh-CN'), status).toMatch(chinese);
      }
    } finally {
      await sql`update orders.orders set inventory_status = 'reserved' where id = ${id}`;
    }
  });

  test('an unknown order and an order of another shopper get code 404', async () => {
    const [ann, bob] = [await buyer(), await buyer()];
    const { id } = await placed(ann);
    for (const path of [`/api/v1/orders/${id}`, `/api/v1/orders/${2 ** 40}`])
      expect(await shop.call('GET', path, { token: bob.token })).toMatchObject({
        status: 200,
        code: 404,
        message: 'Order not found',
      });
  });
});

describe('paying and cancelling', () => {
  const cannotPay = { status: 200, code: 500, message: 'Order not found or cannot pay in current status' };
  const cannotCancel = { status: 200, code: 500, message: 'Order not found or cannot cancel in current status' };

  test('paying changes 1 to 2: stock is confirmed, paid_at is set', async () => {
    const ann = await buyer();
    const { id, sku_id } = await placed(ann, 5);
    expect(await stockOf(sku_id)).toEqual({ stock: 5, reserved: 1, sold: 0 });
    expect(await ann.pay(id)).toMatchObject({ code: 0, data: null });
    expect(await stockOf(sku_id)).toEqual({ stock: 4, reserved: 0, sold: 1 });
    const order = await ann.order(id);
    expectFields(order, 'paid_at t');
    expect(order).toMatchObject({ status: 2, inventory_status: 'confirmed', payment_method: 'wechat' });
  });

  test('cancelling changes 1 to 6: stock is released, the cart stays empty', async () => {
    const ann = await buyer();
    const { id, sku_id } = await placed(ann, 5);
    expect(await ann.cancel(id)).toMatchObject({ code: 0, data: null });
    expect(await stockOf(sku_id)).toEqual({ stock: 5, reserved: 0, sold: 0 });
    expect(await ann.order(id)).toMatchObject({ status: 6, inventory_status: 'released', paid_at: null });
    expect(await ann.cart()).toEqual([]);
  });

  test('an empty body with a JSON content type is accepted', async () => {
    const ann = await buyer();
    const [a, b] = [await placed(ann), await placed(ann)];
    const headers = { 'content-type': 'application/json' };
    for (const path of [`/api/v1/orders/${a.id}/pay`, `/api/v1/orders/${b.id}/cancel`])
      expect(await shop.call('POST', path, { token: ann.token, headers })).toMatchObject({ status: 200, code: 0 });
  });

  test.each([
    ['paid', async (ann: Buyer, id: number) => ann.pay(id)],
    ['cancelled', async (ann: Buyer, id: number) => ann.cancel(id)],
  ])('a %s order can be neither paid nor cancelled', async (_state, prepare) => {
    const ann = await buyer();
    const { id, sku_id } = await placed(ann);
    await prepare(ann, id);
    const before = await stockOf(sku_id);
    expect(await ann.pay(id)).toMatchObject(cannotPay);
    expect(await ann.cancel(id)).toMatchObject(cannotCancel);
    expect((await ann.pay(id, 'zh-CN')).message).toMatch(chinese);
    expect((await ann.cancel(id, 'zh-CN')).message).toMatch(chinese);
    expect(await stockOf(sku_id)).toEqual(before);
  });

  test('an unknown order and an order of another shopper get the same answer', async () => {
    const [ann, bob] = [await buyer(), await buyer()];
    const { id } = await placed(ann);
    for (const foreign of [id, 2 ** 40]) {
      expect(await bob.pay(foreign)).toMatchObject(cannotPay);
      expect(await bob.cancel(foreign)).toMatchObject(cannotCancel);
    }
    expect((await ann.order(id)).status).toBe(1);
  });
});

describe('the tables', () => {
  const tables = async (order_no: string) => {
    const { sql } = shop.database;
    const reservation = await sql`
      select biz_type, biz_no, sku_id, qty, status from inventory.inventory_reservation where biz_no = ${order_no} order by sku_id`;
    const [state] =
      await sql`select order_no, provider, status, last_error from inventory.order_inventory_state where order_no = ${order_no}`;
    const history = await sql`
      select h.from_status, h.to_status, h.trigger, h.actor_type, h.actor_id from orders.order_history h
      join orders.orders o on o.id = h.order_id where o.order_no = ${order_no} order by h.id`;
    return { reservation: [...reservation], state: { ...state! }, history: history.map((row) => Object.values(row)) };
  };

  test.each([
    ['create', async () => {}, 'reserved', []],
    ['pay', (ann: Buyer, id: number) => ann.pay(id), 'confirmed', [[1, 2, 'pay', 'user']]],
    ['cancel', (ann: Buyer, id: number) => ann.cancel(id), 'released', [[1, 6, 'user_cancel', 'user']]],
  ] as [string, (ann: Buyer, id: number) => Promise<unknown>, string, unknown[][]][])(
    'after %s: one reservation per SKU, the state of the order, its history',
    async (_move, act, status, moves) => {
      const ann = await buyer();
      const { sku_ids } = await insertProduct(shop.database, { stocks: [9, 9] });
      await ann.add(sku_ids[0]!, 2);
      await ann.add(sku_ids[1]!, 3);
      const { id, order_no } = (await ann.place()).data;
      await act(ann, id);
      const { reservation, state, history } = await tables(order_no);
      expect(reservation).toEqual(
        [2, 3].map((qty, line) => ({ biz_type: 'order', biz_no: order_no, sku_id: sku_ids[line], qty, status })),
      );
      expect(state).toMatchObject({ order_no, provider: 'local', status });
      expect(history).toEqual([[null, 1, 'create', 'user', ann.id], ...moves.map((move) => [...move, ann.id])]);
    },
  );

  test('have no row of a refused order', async () => {
    const ann = await buyer();
    const { sku_ids } = await insertProduct(shop.database, { stocks: [0] });
    const count = async () => {
      const [row] = await shop.database.sql`
        select (select count(*) from orders.orders) as o, (select count(*) from orders.order_items) as i,
          (select count(*) from inventory.inventory_reservation) as r, (select count(*) from orders.order_history) as h`;
      return { ...row! };
    };
    const before = await count();
    await ann.place({ items: [{ sku_id: sku_ids[0] }] });
    expect(await count()).toEqual(before);
  });
});

test('odd prices and quantities add up to the cent', async () => {
  const ann = await buyer();
  for (const [price, qty] of [
    [1, 7],
    [1999, 3],
    [333, 333],
    [10_01, 1],
    [99, 10],
  ] as const) {
    const { sku_ids } = await insertProduct(shop.database, { price, stocks: [1000] });
    await ann.add(sku_ids[0]!, qty);
  }
  const order = await ann.order((await ann.place()).data.id);
  expectMoneyAddsUp(order);
  expect(order.total_amount).toBe((7 + 5997 + 333 * 333 + 1001 + 990) / 100);
});
