import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese, contract, expectFields, expectMoneyAddsUp } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

/** The API contract of the merchant tools: repricing, notes, reminders, print sheet, timeline and batches. */
const staffId = 7;
let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop({ databasePool: 12 });
  token = await shop.server.tokens.issue({ role: 'admin', id: staffId, perms: ['order:view', 'order:ship'] });
});
afterEach(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
afterAll(() => shop?.close());

const admin = (method: string, path: string, body?: unknown, lang?: string) =>
  shop.call(method, `/admin/api${path}`, { token, body, ...(lang ? { lang } : {}) });
const orderOf = async (id: number) => (await admin('GET', `/orders/${id}`)).data;
const unknownId = 2 ** 40;

type State = 'unpaid' | 'paid' | 'shipped' | 'cancelled' | 'completed';
/** Places an order of two lines, 2 x 12.90 and 1 x 12.90, and brings it into a state. */
async function orderIn(state: State = 'unpaid', stocks = [50, 50]) {
  const ann = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { title: 'Enamel mug', price: 1290, stocks });
  await shop.call('POST', '/api/v1/cart/add', { token: ann.token, body: { sku_id: sku_ids[0], qty: 2 } });
  await shop.call('POST', '/api/v1/cart/add', { token: ann.token, body: { sku_id: sku_ids[1], qty: 1 } });
  const { data } = await shop.call('POST', '/api/v1/orders', {
    token: ann.token,
    body: { address_id: ann.address_id, remark: 'Ring twice' },
  });
  const id = data.id as number;
  const shopper = (act: string) => shop.call('POST', `/api/v1/orders/${id}/${act}`, { token: ann.token });
  if (state === 'cancelled') await shopper('cancel');
  if (state !== 'unpaid' && state !== 'cancelled') await shopper('pay');
  if (state === 'shipped' || state === 'completed')
    await admin('PUT', `/orders/${id}/ship`, { company: 'SF', tracking_no: `SF${id}` });
  if (state === 'completed') await complete(id);
  const order = await orderOf(id);
  return { id, order_no: data.order_no as string, ann, shopper, sku_ids, items: order.items as { id: number }[] };
}
/** Completes an order by SQL, because no route completes orders yet. */
async function complete(id: number) {
  await shop.database.sql.begin(async (tx) => {
    await tx`update orders.orders set status = 4 where id = ${id}`;
    await tx`
      insert into orders.order_history (order_id, from_status, to_status, trigger, actor_type, created_at)
      values (${id}, 3, 4, 'receive', 'user', now())`;
  });
}
const stockOf = async (sku: number) => {
  const [row] = await shop.database
    .sql`select stock, reserved_stock as reserved, sold from catalog.product_skus where id = ${sku}`;
  return { ...row! };
};
const refusalIn = async (path: string, body: unknown, expected: object) => {
  expect(await admin('POST', path, body)).toMatchObject({ status: 200, ...expected });
  expect((await admin('POST', path, body, 'zh-CN')).message).toMatch(chinese);
};

describe('repricing', () => {
  test('a price may be text, as forms send it; invalid text is refused and named, and changes nothing', async () => {
    const { id, items } = await orderIn();
    const price = (text: string, item_id: unknown = items[0]!.id) =>
      admin('POST', `/orders/${id}/repricing`, { items: [{ item_id, price: text }] });
    const { data } = await price('30', String(items[0]!.id));
    expect(data.amount_breakdown).toMatchObject({ goods_amount: 72.9, payable_amount: 72.9 });
    // Less than half a cent would be rounded to a free line.
    for (const text of ['abc', ' ', '1e999', '0x10', '1,5', '-1', '0.004'])
      expect(await price(text), text).toMatchObject({ code: 400, message: expect.stringContaining('items[0].price') });
    expect((await orderOf(id)).total_amount).toBe(72.9);
    const adjustment = { type: 'amount', value: '-2.90' };
    const batch = await admin('POST', '/orders/batch/repricing', { ids: [String(id)], adjustment });
    expect(batch.data.success_ids).toEqual([id]);
    expect((await orderOf(id)).total_amount).toBe(70);
  });

  test('new unit prices change lines, shares and total; stock is not changed, both amounts are recorded', async () => {
    const { id, items, sku_ids } = await orderIn();
    const before = await stockOf(sku_ids[0]!);
    const body = { items: [{ item_id: items[0]!.id, price: 10.005 }], remark: 'Price match' };
    const { data } = await admin('POST', `/orders/${id}/repricing`, body);
    expectFields(data, contract.repriced);
    expectFields(data.amount_breakdown, contract.breakdown);
    expect(data).toMatchObject({
      id,
      amount_breakdown: { goods_amount: 32.92, discount_amount: 0, payable_amount: 32.92 },
    });
    const order = await orderOf(id);
    expectMoneyAddsUp(order);
    expect(order.items.map((item: { price: number }) => item.price)).toEqual([10.01, 12.9]);
    expect(order.pay_amount).toBe(32.92);
    expect(await stockOf(sku_ids[0]!)).toEqual(before);
    const log = await shop.database.sql`select * from orders.price_changes where order_id = ${id}`;
    expect(log).toHaveLength(1);
    expect({ ...log[0]! }).toMatchObject({
      staff_id: staffId,
      remark: 'Price match',
      old_total_amount: 3870,
      total_amount: 3292,
      lines: [{ item_id: items[0]!.id, old_price: 1290, price: 1001 }],
    });
  });

  test('the payment has the new total', async () => {
    const { id, items, shopper } = await orderIn();
    await admin('POST', `/orders/${id}/repricing`, { items: items.map((item) => ({ item_id: item.id, price: 5 })) });
    expect((await shopper('pay')).code).toBe(0);
    const [payment] = await shop.database.sql`select amount from orders.payments where order_id = ${id}`;
    expect(payment!.amount).toBe(1500);
  });

  test('the discount of an order stays, and is allocated to the new prices', async () => {
    const { id, items } = await orderIn();
    await shop.database.sql.begin(async (tx) => {
      await tx`update orders.orders set discount_amount = 300, total_amount = goods_amount - 300 where id = ${id}`;
      await tx`update orders.order_items set payable_amount = price * qty - 100 * qty where order_id = ${id}`;
    });
    const { data } = await admin('POST', `/orders/${id}/repricing`, { items: [{ item_id: items[1]!.id, price: 20 }] });
    expect(data.amount_breakdown).toMatchObject({ goods_amount: 45.8, discount_amount: 3, payable_amount: 42.8 });
    expectMoneyAddsUp(await orderOf(id));
  });

  test.each(['paid', 'shipped', 'cancelled'] as const)('an order that is %s is refused', async (state) => {
    const { id, items } = await orderIn(state);
    await refusalIn(
      `/orders/${id}/repricing`,
      { items: [{ item_id: items[0]!.id, price: 1 }] },
      { code: 500, message: 'Only an unpaid order can be repriced' },
    );
  });

  test('lines of other orders, negative prices and a total of 0 are refused, and nothing is changed', async () => {
    const { id, items } = await orderIn();
    const other = await orderIn();
    const path = `/orders/${id}/repricing`;
    const foreign = other.items[0]!.id;
    await refusalIn(
      path,
      { items: [{ item_id: foreign, price: 1 }] },
      { code: 400, message: expect.stringContaining(`${foreign}`) },
    );
    const twice = [
      { item_id: items[0]!.id, price: 1 },
      { item_id: items[0]!.id, price: 2 },
    ];
    await refusalIn(path, { items: twice }, { code: 400, message: expect.stringContaining('items') });
    await refusalIn(
      path,
      { items: [{ item_id: items[0]!.id, price: -1 }] },
      { code: 400, message: expect.stringContaining('price') },
    );
    await refusalIn(path, { items: [] }, { code: 400, message: expect.stringContaining('items') });
    await refusalIn(
      path,
      { items: items.map((item) => ({ item_id: item.id, price: 0 })) },
      { code: 500, message: 'The order must cost at least 0.01' },
    );
    await refusalIn(
      `/orders/${unknownId}/repricing`,
      { items: [{ item_id: 1, price: 1 }] },
      { code: 404, message: 'Order not found' },
    );
    expect((await orderOf(id)).total_amount).toBe(38.7);
  });

  test('with a payment at the same time, fifty times: one of the two amounts is paid, never a mixture', async () => {
    const orders = await Promise.all(Array.from({ length: 50 }, () => orderIn()));
    const tally = { before: 0, after: 0 };
    await Promise.all(
      orders.map(async ({ id, items, shopper }, round) => {
        const reprice = () =>
          admin('POST', `/orders/${id}/repricing`, { items: [{ item_id: items[0]!.id, price: 3 }] });
        const acts = round % 2 ? [reprice(), shopper('pay')] : [shopper('pay'), reprice()];
        const [first, second] = await Promise.all(acts);
        const [repriced, paid] = round % 2 ? [first!, second!] : [second!, first!];
        expect(paid.code).toBe(0);
        expect([0, 500]).toContain(repriced.code);
        const [row] = await shop.database.sql`
          select o.total_amount, p.amount from orders.orders o join orders.payments p on p.order_id = o.id where o.id = ${id}`;
        const amount = repriced.code === 0 ? 1890 : 3870;
        expect({ ...row! }).toEqual({ total_amount: amount, amount });
        tally[repriced.code === 0 ? 'after' : 'before'] += 1;
      }),
    );
    expect(tally.before + tally.after).toBe(50);
  });

  test('whose answer was lost is not repeated over a later change, alone and in a batch', async () => {
    const { id, items } = await orderIn();
    const single = [`/orders/${id}/repricing`, { items: [{ item_id: items[0]!.id, price: 3 }] }] as const;
    const batch = ['/orders/batch/repricing', { ids: [id], adjustment: { type: 'amount', value: -1 } }] as const;
    for (const [path, body] of [single, batch]) {
      const headers = { 'idempotency-key': `lost-${path}` };
      const send = () => shop.call('POST', `/admin/api${path}`, { token, body, headers });
      const first = await send();
      await shop.database.sql`
        update runtime.idempotency_keys set answer = null, status = null, code = null, instance = 'gone'
        where key = ${headers['idempotency-key']}`;
      await admin('POST', `/orders/${id}/repricing`, { items: [{ item_id: items[0]!.id, price: 20 }] });
      const { total_amount } = await orderOf(id);
      const again = await send();
      expect(again.body).toEqual(first.body);
      expect((await orderOf(id)).total_amount).toBe(total_amount);
    }
  });

  test('that waits for another one keeps the agreed discount, without the cents that the other one rounded', async () => {
    const { id, items } = await orderIn();
    const { sql } = shop.database;
    const waiting = (count: number) =>
      vi.waitFor(async () => {
        const [row] = await sql<{ n: number }[]>`
          select count(*)::int as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        expect(row!.n).toBe(count);
      });
    const calls = await sql.begin(async (tx) => {
      await tx`select from orders.orders where id = ${id} for update`;
      // Two pieces cannot cost 25.79, so one cent is added to the discount.
      const adjustment = { type: 'amount', value: -0.01 };
      const first = admin('POST', '/orders/batch/repricing', { ids: [id], adjustment });
      await waiting(1);
      const body = { items: items.map((item) => ({ item_id: item.id, price: 5 })) };
      const second = admin('POST', `/orders/${id}/repricing`, body);
      await waiting(2);
      return [first, second];
    });
    const [adjusted, repriced] = await Promise.all(calls);
    expect(adjusted!.data.success_ids).toEqual([id]);
    expect(repriced!.data.amount_breakdown).toMatchObject({ discount_amount: 0, payable_amount: 15 });
  });
});

describe('notes', () => {
  test('are returned oldest first, also in the order and in the list of orders', async () => {
    const { id } = await orderIn();
    await admin('POST', `/orders/${id}/notes`, { content: 'First', visible_to: 'merchant_only' });
    const { data } = await admin('POST', `/orders/${id}/notes`, { content: ' Second <b> ', visible_to: '' });
    expect(data.id).toBe(id);
    for (const note of data.notes) expectFields(note, contract.orderNote);
    expect(data.notes.map((note: { content: string; visible_to: string }) => [note.content, note.visible_to])).toEqual([
      ['First', 'merchant_only'],
      ['Second <b>', 'merchant_only'],
    ]);
    expect((await orderOf(id)).notes).toEqual(data.notes);
    const { data: page } = await admin('GET', '/orders?size=5');
    expect(page.list.find((order: { id: number }) => order.id === id).notes).toEqual(data.notes);
  });

  test('the shopper does not see them', async () => {
    const { id, ann } = await orderIn();
    await admin('POST', `/orders/${id}/notes`, { content: 'difficult customer' });
    const { body } = await shop.call('GET', `/api/v1/orders/${id}`, { token: ann.token });
    expect(JSON.stringify(body)).not.toContain('difficult');
  });

  test('require a text and an existing order; their number is limited', async () => {
    const { id } = await orderIn();
    await refusalIn(
      `/orders/${id}/notes`,
      { content: '  ' },
      { code: 400, message: expect.stringContaining('content') },
    );
    await refusalIn(
      `/orders/${id}/notes`,
      { content: 'x', visible_to: 'all' },
      { code: 400, message: expect.stringContaining('visible_to') },
    );
    await refusalIn(`/orders/${unknownId}/notes`, { content: 'x' }, { code: 404, message: 'Order not found' });
    await shop.database.sql`
      insert into orders.order_notes (order_id, content, staff_id) select ${id}, 'n' || n, 1 from generate_series(1, 50) as n`;
    await refusalIn(`/orders/${id}/notes`, { content: 'x' }, { code: 500, message: 'An order holds at most 50 notes' });
  });
});

describe('reminding to pay', () => {
  const remindersOf = async (id: number) => (await admin('GET', `/orders/${id}/reminders`)).data;

  test('by sms records the reminder and enqueues its job', async () => {
    const { id } = await orderIn();
    const channel = 'sms';
    const { data } = await admin('POST', `/orders/${id}/remind-pay`, { channel });
    expectFields(data, contract.reminded);
    expect(data.channel).toBe(channel);
    expect(await remindersOf(id)).toMatchObject([{ channel, status: 'queued', attempts: 0, sent_at: null }]);
    const jobs = await shop.database.sql`
      select 1 from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
      join orders.reminders r on r.id = (j.payload ->> 'reminder_id')::bigint
      where t.identifier = 'orders.remind' and r.order_id = ${id}`;
    expect(jobs).toHaveLength(1);
  });

  test('works once per channel in ten minutes, also for ten parallel requests', async () => {
    const { id } = await orderIn();
    const clicks = await Promise.all(
      Array.from({ length: 10 }, () => admin('POST', `/orders/${id}/remind-pay`, { channel: 'sms' })),
    );
    expect(clicks.filter((click) => click.code === 0)).toHaveLength(1);
    await refusalIn(
      `/orders/${id}/remind-pay`,
      { channel: 'sms' },
      { code: 500, message: 'There was a reminder on this channel in the last 10 minutes' },
    );
    await shop.database
      .sql`update orders.reminders set created_at = created_at - interval '11 minutes' where order_id = ${id}`;
    expect((await admin('POST', `/orders/${id}/remind-pay`, { channel: 'sms' })).code).toBe(0);
    expect(await remindersOf(id)).toHaveLength(2);
  });

  test.each(['wx', 'chat_app'])('by %s is refused by name, because no sender is set up for it', async (channel) => {
    const { id } = await orderIn();
    await refusalIn(
      `/orders/${id}/remind-pay`,
      { channel },
      { code: 500, message: `No sender is set up for ${channel}` },
    );
    const chineseAnswer = await admin('POST', `/orders/${id}/remind-pay`, { channel }, 'zh-CN');
    expect(chineseAnswer).toMatchObject({ code: 500, message: expect.stringContaining(channel) });
    expect(chineseAnswer.message).toMatch(chinese);
    expect(await remindersOf(id)).toEqual([]);
  });

  test('by sms is refused by name while its provider is off or misses a setting', async () => {
    const { id } = await orderIn();
    const { settings } = shop.server.runtime;
    try {
      await settings.set('sms.provider', 'off');
      await refusalIn(
        `/orders/${id}/remind-pay`,
        { channel: 'sms' },
        { code: 500, message: 'No sender is set up for sms' },
      );
      await settings.setMany({ 'sms.provider': 'webhook', 'sms.webhook_url': 'https://hooks.example/sms' });
      await refusalIn(
        `/orders/${id}/remind-pay`,
        { channel: 'sms' },
        { code: 500, message: 'The sender for sms is not set up: sms.webhook_secret is missing' },
      );
    } finally {
      await settings.setMany({}, { unset: ['sms.provider', 'sms.webhook_url'] });
    }
    expect((await admin('POST', `/orders/${id}/remind-pay`, { channel: 'sms' })).code).toBe(0);
  });

  test.each(['paid', 'cancelled'] as const)('is refused for an order that is %s', async (state) => {
    const { id } = await orderIn(state);
    await refusalIn(
      `/orders/${id}/remind-pay`,
      { channel: 'sms' },
      { code: 500, message: 'Only an unpaid order can be reminded of' },
    );
    await refusalIn(`/orders/${unknownId}/remind-pay`, { channel: 'sms' }, { code: 404, message: 'Order not found' });
    await refusalIn(
      `/orders/${id}/remind-pay`,
      { channel: 'pigeon' },
      { code: 400, message: expect.stringContaining('channel') },
    );
  });
});

/** Runs `work` while the shipped order has a returned and an exchanged parcel. */
async function withExchange(id: number, work: () => Promise<void>) {
  const { sql } = shop.database;
  await sql`
    insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, company, tracking_no, shipped_at)
    values (${id}, 'express', 'inbound', 'return', 'JD', 'J1', now() + interval '1 minute'),
           (${id}, 'express', 'outbound', 'reship', 'ZTO', 'Z1', now() + interval '2 minutes')`;
  await work();
  await sql`delete from fulfilment.shipments where order_id = ${id} and biz_type <> 'initial'`;
}

describe('the print sheet', () => {
  const sheet = async (id: number, query = '', lang = 'en') =>
    (await admin('GET', `/orders/${id}/print-template${query}`, undefined, lang)).data.template as string;

  test('has number, address, lines and amounts, in the language of the reader', async () => {
    const { id, order_no } = await orderIn('paid');
    const text = await sheet(id);
    for (const part of [
      order_no,
      'Ann',
      '13800000000',
      'Zhejiang Hangzhou Xihu 1 Road',
      'Enamel mug',
      '12.90',
      '25.80',
      '38.70',
      'Ring twice',
    ])
      expect(text).toContain(part);
    expect(text).not.toMatch(chinese);
    expect(await sheet(id, '', 'zh-CN')).toMatch(chinese);
    expect(await sheet(id, '?template=anything')).toBe(text);
    expect(await sheet(id, '?template=')).toBe(text);
    const packing = await sheet(id, '?template=packing');
    expect(packing).toContain('Enamel mug');
    expect(packing).not.toContain('12.90');
  });

  test('has the outbound parcels, oldest first; a packing list has none', async () => {
    const { id } = await orderIn('shipped');
    await withExchange(id, async () => {
      const text = await sheet(id);
      expect(text).toMatch(new RegExp(`SF Express SF${id} \\(Initial\\).*ZTO Express Z1 \\(Reship\\)`, 's'));
      expect(text).not.toContain('J1');
      expect(await sheet(id, '', 'zh-CN')).toContain('中通快递 Z1 (补发)');
      expect(await sheet(id, '?template=packing')).not.toContain('ZTO');
    });
  });

  test('texts of customers and products are escaped', async () => {
    const { id } = await orderIn();
    const evil = `<img src=x onerror="alert('1')">&amp;</table>`;
    await shop.database.sql`update orders.orders set remark = ${evil}, address_snapshot = address_snapshot ||
      ${shop.database.sql.json({ name: evil, phone: evil, detail: evil })} where id = ${id}`;
    await shop.database.sql`update orders.order_items set title = ${evil},
      attrs = ${shop.database.sql.json([{ name: evil, value: evil }])} where order_id = ${id}`;
    for (const query of ['', '?template=packing']) {
      const text = await sheet(id, query);
      expect(text).not.toContain('<img');
      expect(text.match(/<\/table>/g)!.length).toBe(text.match(/<table/g)!.length);
      expect(text).toContain('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;&lt;/table&gt;');
    }
  });

  test('of an unknown order is refused', async () => {
    expect(await admin('GET', `/orders/${unknownId}/print-template`)).toMatchObject({
      code: 404,
      message: 'Order not found',
    });
  });
});

describe('the timeline', () => {
  const stagesOf = async (id: number, lang = 'en') =>
    (await admin('GET', `/orders/${id}/timeline`, undefined, lang)).data as {
      stage: string;
      status: string;
      time: string;
      content: string;
    }[];

  test.each([
    ['unpaid', ['created Ordered']],
    ['cancelled', ['created Ordered', 'cancelled Canceled']],
    ['paid', ['created Ordered', 'paid Paid']],
    ['shipped', ['created Ordered', 'paid Paid', 'shipped Shipped']],
  ] as [State, string[]][])(
    'of an order that is %s has only what was reached, oldest first',
    async (state, expected) => {
      const { id, order_no } = await orderIn(state);
      const stages = await stagesOf(id);
      for (const stage of stages) expectFields(stage, contract.timelineStage);
      expect(stages.map(({ stage, status }) => `${stage} ${status}`)).toEqual(expected);
      const times = stages.map((stage) => Date.parse(stage.time));
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(stages[0]!.content).toContain(order_no);
      for (const { status } of await stagesOf(id, 'zh-CN')) expect(status).toMatch(chinese);
    },
  );

  test('has the time of receipt from the carrier, the payment and the shipment', async () => {
    const { id } = await orderIn('shipped');
    await shop.database
      .sql`update fulfilment.shipments set logistics_status = 'signed', signed_at = now() + interval '1 minute' where order_id = ${id}`;
    const stages = await stagesOf(id);
    expect(stages.map(({ stage, content }) => [stage, content]).slice(1)).toEqual([
      ['paid', 'WeChat Pay 38.70'],
      ['shipped', `SF Express SF${id}`],
      ['received', `SF Express SF${id}`],
    ]);
  });

  test('has no receipt before the shipment, whatever the carrier reports', async () => {
    const { id } = await orderIn('shipped');
    await shop.database
      .sql`update fulfilment.shipments set logistics_status = 'signed', signed_at = now() - interval '2 years' where order_id = ${id}`;
    const stages = await stagesOf(id);
    expect(stages.map(({ stage }) => stage)).toEqual(['created', 'paid', 'shipped', 'received']);
    expect(stages[3]!.time).toBe(stages[2]!.time);
  });

  test('keeps the stages of one second in their order', async () => {
    const { id } = await orderIn('shipped');
    const second = '2026-03-01T01:00:00.900Z';
    await shop.database.sql`update orders.order_history set created_at = ${second} where order_id = ${id}`;
    await withExchange(id, async () => {
      await shop.database.sql`update fulfilment.shipments set shipped_at = ${second} where order_id = ${id}`;
      const stages = await stagesOf(id);
      expect(stages.map(({ status }) => status)).toEqual(['Ordered', 'Paid', 'Shipped', 'Reship']);
    });
  });

  test('has a stage for each re-shipment, and none for a parcel that came back', async () => {
    const { id } = await orderIn('shipped');
    await withExchange(id, async () => {
      const stages = await stagesOf(id);
      expect(stages.slice(2).map(({ stage, status, content }) => [stage, status, content])).toEqual([
        ['shipped', 'Shipped', `SF Express SF${id}`],
        ['shipped', 'Reship', 'ZTO Express Z1'],
      ]);
      expect((await stagesOf(id, 'zh-CN')).at(-1)!.status).toBe('补发');
    });
  });

  test('has the reason of the merchant for closing; an unknown order is refused', async () => {
    const { id } = await orderIn();
    await admin('POST', '/orders/batch/close', { ids: [id], reason: 'Sold out' });
    expect((await stagesOf(id)).at(-1)).toMatchObject({
      stage: 'cancelled',
      content: 'Closed by the merchant: Sold out',
    });
    expect(await admin('GET', `/orders/${unknownId}/timeline`)).toMatchObject({ code: 404 });
  });
});

describe('in batches', () => {
  /** One order per state, an unknown id and a repeated id. */
  async function mixed() {
    const [a, b, paid, shipped, cancelled] = await Promise.all([
      orderIn(),
      orderIn(),
      orderIn('paid'),
      orderIn('shipped'),
      orderIn('cancelled'),
    ]);
    const ids = [cancelled.id, b.id, a.id, unknownId, shipped.id, paid.id, a.id];
    return { a, b, paid, shipped, cancelled, ids };
  }
  type Result = { success_ids: number[]; fail: { id: number; reason: string }[] };
  const expectResult = (data: Result, success: number[], fail: [number, string][]) => {
    expectFields(data, contract.batchResult);
    for (const row of data.fail) expectFields(row, contract.batchFail);
    expect(data.success_ids).toEqual(success);
    expect(data.fail.map(({ id, reason }) => [id, reason])).toEqual(fail);
  };

  test('notes are added to every order that exists', async () => {
    const { ids, a, b, paid, shipped, cancelled } = await mixed();
    const { data } = await admin('POST', '/orders/batch/notes', { ids, content: 'Called' });
    expectResult(data, [cancelled.id, b.id, a.id, shipped.id, paid.id], [[unknownId, 'Order not found']]);
    for (const one of [a, paid]) expect((await orderOf(one.id)).notes).toHaveLength(1);
  });

  test('repricing changes unpaid orders to the cent, by a percentage or an amount', async () => {
    const { ids, a, b, paid, shipped, cancelled } = await mixed();
    const only = 'Only an unpaid order can be repriced';
    const refused: [number, string][] = [
      [cancelled.id, only],
      [unknownId, 'Order not found'],
      [shipped.id, only],
      [paid.id, only],
    ];
    const { data } = await admin('POST', '/orders/batch/repricing', {
      ids,
      adjustment: { type: 'percent', value: -10 },
    });
    expectResult(data, [b.id, a.id], refused);
    // 38.70 x 0.9
    expect((await orderOf(a.id)).total_amount).toBe(34.83);
    await admin('POST', '/orders/batch/repricing', { ids, adjustment: { type: 'amount', value: 5.17 } });
    for (const { id } of [a, b]) {
      const order = await orderOf(id);
      expect(order.total_amount).toBe(40);
      expectMoneyAddsUp(order);
    }
    expect((await orderOf(paid.id)).total_amount).toBe(38.7);
    const { data: low } = await admin('POST', '/orders/batch/repricing', {
      ids: [a.id],
      adjustment: { type: 'amount', value: -40 },
    });
    expectResult(low, [], [[a.id, 'The order must cost at least 0.01']]);
    const { data: high } = await admin('POST', '/orders/batch/repricing', {
      ids: [a.id],
      adjustment: { type: 'percent', value: 99_999_999.99 },
    });
    expect(high).toMatchObject({ success_ids: [a.id], fail: [] });
    const { data: higher } = await admin('POST', '/orders/batch/repricing', {
      ids: [a.id],
      adjustment: { type: 'percent', value: 99_999_999.99 },
    });
    expectResult(higher, [], [[a.id, 'The order amount is too large']]);
  });

  test('closing cancels unpaid orders and releases their stock; others get their refusal', async () => {
    const { ids, a, b, paid, shipped, cancelled } = await mixed();
    const completed = await orderIn('completed');
    const { data } = await admin('POST', '/orders/batch/close', { ids: [...ids, completed.id], reason: 'Sold out' });
    const wasPaid = 'A paid order can not be closed: refund it by an after-sale';
    expectResult(
      data,
      [b.id, a.id],
      [
        [cancelled.id, 'The order is cancelled already'],
        [unknownId, 'Order not found'],
        [shipped.id, wasPaid],
        [paid.id, wasPaid],
        [completed.id, 'A completed order can not be closed'],
      ],
    );
    expect(await stockOf(a.sku_ids[0]!)).toEqual({ stock: 50, reserved: 0, sold: 0 });
    const [last] = await shop.database.sql`
      select to_status, trigger, actor_type, actor_id, note from orders.order_history where order_id = ${a.id} order by id desc limit 1`;
    expect({ ...last! }).toEqual({
      to_status: 6,
      trigger: 'merchant_close',
      actor_type: 'admin',
      actor_id: staffId,
      note: 'Sold out',
    });
    const { data: inChinese } = await admin('POST', '/orders/batch/close', { ids: [paid.id] }, 'zh-CN');
    expect(inChinese.fail[0].reason).toMatch(chinese);
    // The completed order was made by SQL and has no stock records, so it must not be audited.
    await shop.database.sql`delete from orders.order_history where order_id = ${completed.id} and to_status = 4`;
    await shop.database.sql`update orders.orders set status = 3 where id = ${completed.id}`;
  });

  test('shipping takes a bare array; an incomplete row is refused alone; of two rows for one order the first counts', async () => {
    const { a, paid, shipped, cancelled } = await mixed();
    const other = await orderIn('paid');
    const bare = await orderIn('paid');
    const { data } = await admin('POST', '/orders/batch/ship', [
      { order_id: other.id, company: 'zto', tracking_no: 'Z1' },
      { order_id: a.id, company: 'SF', tracking_no: 'S1' },
      { order_id: paid.id, company: 'SF', tracking_no: 'S2' },
      { order_id: paid.id, company: 'SF', tracking_no: 'S3' },
      { order_id: bare.id, company: 'SF', tracking_no: null },
      { order_id: bare.id + unknownId, company: '', tracking_no: '' },
      { order_id: shipped.id, company: 'SF', tracking_no: 'S4' },
      { order_id: cancelled.id, company: 'SF', tracking_no: 'S5' },
    ]);
    const cannot = 'Cannot ship in current status';
    expectResult(
      data,
      [other.id, paid.id],
      [
        [a.id, cannot],
        [paid.id, 'The order is in the list twice: its first shipment counts'],
        [bare.id, 'Tracking number is required'],
        [bare.id + unknownId, 'Order not found'],
        [shipped.id, cannot],
        [cancelled.id, cannot],
      ],
    );
    expect(await orderOf(paid.id)).toMatchObject({ status: 3, tracking_no: 'S2' });
    expect((await orderOf(other.id)).latest_shipment).toMatchObject({ company: 'ZTO', tracking_no: 'Z1' });
    expect((await orderOf(bare.id)).status).toBe(2);
    for (const body of [{}, { ids: [1] }, [null], [{ company: 'SF' }]])
      expect(await admin('POST', '/orders/batch/ship', body)).toMatchObject({ status: 200, code: 400 });
  });

  test('an empty list succeeds; more than a thousand ids are refused', async () => {
    for (const [path, body] of [
      ['notes', { ids: [], content: 'x' }],
      ['close', { ids: [] }],
      ['repricing', { ids: [], adjustment: { type: 'amount', value: 1 } }],
      ['ship', []],
    ] as const)
      expect((await admin('POST', `/orders/batch/${path}`, body)).data).toEqual({ success_ids: [], fail: [] });
    const ids = Array.from({ length: 1_001 }, (_, i) => i + 1);
    await refusalIn('/orders/batch/close', { ids }, { code: 400, message: expect.stringContaining('ids') });
  });

  test('send as many statements for thirty orders as for one, at most the declared number', async () => {
    const orders = await Promise.all(Array.from({ length: 31 }, () => orderIn()));
    for (const order of orders.slice(0, 31)) await order.shopper('pay');
    const unpaid = await Promise.all(Array.from({ length: 31 }, () => orderIn()));
    const idsOf = (of: { id: number }[], many: boolean) => (many ? of.slice(1) : of.slice(0, 1)).map(({ id }) => id);
    const { statements } = shop.server.runtime.metrics;
    const sent = async (path: string, body: unknown) => {
      const before = (await statements.get()).values[0]!.value;
      const { data } = await admin('POST', path, body);
      expect(data.fail).toEqual([]);
      return (await statements.get()).values[0]!.value - before;
    };
    for (const [path, of, bodyOf] of [
      ['notes', unpaid, (ids) => ({ ids, content: 'x' })],
      ['repricing', unpaid, (ids) => ({ ids, adjustment: { type: 'percent', value: -5 } })],
      ['close', unpaid, (ids) => ({ ids })],
      ['ship', orders, (ids) => ids.map((order_id) => ({ order_id, company: 'SF', tracking_no: 'S1' }))],
    ] as [string, { id: number }[], (ids: number[]) => unknown][]) {
      const whole = `/admin/api/orders/batch/${path}`;
      const declared = shop.server.routes.find((route) => route.path === whole)!.statements!;
      const one = await sent(`/orders/batch/${path}`, bodyOf(idsOf(of, false)));
      const thirty = await sent(`/orders/batch/${path}`, bodyOf(idsOf(of, true)));
      expect(thirty, path).toBe(one);
      // The declared number does not include BEGIN, COMMIT and the actor of the change log.
      expect(thirty, path).toBeLessThanOrEqual(declared + 3);
    }
  });

  test('require the permission of the API contract', async () => {
    const viewer = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['order:view'] });
    for (const path of ['notes', 'close', 'repricing', 'ship'])
      expect(await shop.call('POST', `/admin/api/orders/batch/${path}`, { token: viewer, body: {} })).toMatchObject({
        code: 403,
        message: 'No permission: order:ship',
      });
  });

  test('closing and paying twenty orders in three batches at once: each order is paid or closed', async () => {
    const orders = await Promise.all(Array.from({ length: 20 }, () => orderIn()));
    const ids = orders.map((order) => order.id);
    const [first, second, third, ...paid] = await Promise.all([
      admin('POST', '/orders/batch/close', { ids }),
      admin('POST', '/orders/batch/close', { ids: [...ids].reverse() }),
      admin('POST', '/orders/batch/repricing', { ids: [...ids].reverse(), adjustment: { type: 'percent', value: 10 } }),
      ...orders.map((order) => order.shopper('pay')),
    ]);
    expect(third!.code).toBe(0);
    const closed = [...first!.data.success_ids, ...second!.data.success_ids];
    expect(new Set(closed).size).toBe(closed.length);
    for (const [i, order] of orders.entries()) expect(paid[i]!.code === 0).toBe(!closed.includes(order.id));
    for (const { id } of orders) expect((await orderOf(id)).status).toBe(closed.includes(id) ? 6 : 2);
  });

  test('the same orders shipped by five batches at once: each is shipped once, with the tracking number of that batch', async () => {
    const orders = await Promise.all(Array.from({ length: 10 }, () => orderIn('paid')));
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, batch) => {
        const rows = orders.map(({ id }) => ({ order_id: id, company: 'SF', tracking_no: `B${batch}` }));
        return admin('POST', '/orders/batch/ship', batch % 2 ? rows.reverse() : rows);
      }),
    );
    const winner = new Map<number, string>();
    answers.forEach(({ data }, batch) => {
      for (const id of data.success_ids) {
        expect(winner.has(id)).toBe(false);
        winner.set(id, `B${batch}`);
      }
    });
    expect(winner.size).toBe(10);
    for (const { id } of orders) {
      const order = await orderOf(id);
      expect(order.shipments.map((s: { tracking_no: string }) => s.tracking_no)).toEqual([winner.get(id)]);
    }
  });
});
