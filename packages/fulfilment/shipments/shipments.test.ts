import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

let shop: Shop;
let token: string;
beforeAll(async () => {
  shop = await openShop();
  token = await shop.server.tokens.issue({ role: 'admin', id: 7, perms: ['order:view', 'order:ship'] });
});
beforeEach(() => setting({}));
afterEach(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
afterAll(() => shop?.close());

const keys = {
  mode: 'delivery_router.delivery_mode',
  rider: 'delivery_local.default_rider_name',
  phone: 'delivery_local.default_rider_phone',
};
/** Sets these settings, and the others to their defaults. */
const setting = ({ mode = 'express', rider = '', phone = '' }) =>
  shop.server.runtime.settings.setMany({ [keys.mode]: mode, [keys.rider]: rider, [keys.phone]: phone });
const admin = (method: string, path: string, body?: unknown, lang = 'en') =>
  shop.call(method, `/admin/api${path}`, { token, body, lang });
const orderOf = async (id: number) => (await admin('GET', `/orders/${id}`)).data;

/** Places and pays an order of one piece. */
async function paidOrder() {
  const ann = await shop.shopper();
  const { sku_ids } = await insertProduct(shop.database, { stocks: [5] });
  const { data } = await shop.call('POST', '/api/v1/orders', {
    token: ann.token,
    body: { address_id: ann.address_id, items: [{ sku_id: sku_ids[0] }] },
  });
  await shop.call('POST', `/api/v1/orders/${data.id}/pay`, { token: ann.token });
  return data.id as number;
}

const express = { delivery_type: 'express', company: 'SF', tracking_no: 'SF100' };
const local = { delivery_type: 'local', rider_name: 'Wang', rider_phone: '13900000000' };

describe('the delivery mode', () => {
  test('is express in a new shop; both kinds of clients read it', async () => {
    const read = async () => [
      (await shop.call('GET', '/api/v1/delivery/mode')).data,
      (await admin('GET', '/delivery/mode')).data,
    ];
    expect(await read()).toEqual([{ mode: 'express' }, { mode: 'express' }]);
    await setting({ mode: 'both' });
    expect(await read()).toEqual([{ mode: 'both' }, { mode: 'both' }]);
    expect((await shop.call('GET', '/admin/api/delivery/mode')).status).toBe(401);
  });

  test.each([
    ['express', local],
    ['local', express],
  ])('%s refuses the other delivery type and ships nothing', async (mode, body) => {
    await setting({ mode });
    const id = await paidOrder();
    const refused = await admin('PUT', `/orders/${id}/ship`, body);
    expect(refused).toMatchObject({ status: 200, code: 500, message: 'Unsupported delivery type' });
    expect((await admin('PUT', `/orders/${id}/ship`, body, 'zh-CN')).message).toMatch(chinese);
    expect(await orderOf(id)).toMatchObject({ status: 2, shipments: [], tracking_no: '' });
  });

  test('both accepts both, and a batch is express', async () => {
    await setting({ mode: 'both' });
    const [byRider, byCarrier, inBatch] = await Promise.all([paidOrder(), paidOrder(), paidOrder()]);
    expect((await admin('PUT', `/orders/${byRider}/ship`, local)).code).toBe(0);
    expect((await admin('PUT', `/orders/${byCarrier}/ship`, express)).code).toBe(0);
    const row = { order_id: inBatch, company: 'jd', tracking_no: 'J1' };
    expect((await admin('POST', '/orders/batch/ship', [row])).data.success_ids).toEqual([inBatch]);
    expect((await orderOf(inBatch)).latest_shipment).toMatchObject({ delivery_type: 'express', company: 'JD' });
  });

  test('local refuses a batch row by row, with the reason', async () => {
    await setting({ mode: 'local' });
    const id = await paidOrder();
    const { data } = await admin('POST', '/orders/batch/ship', [{ order_id: id, company: 'SF', tracking_no: 'S1' }]);
    expect(data).toEqual({ success_ids: [], fail: [{ id, reason: 'Unsupported delivery type' }] });
  });
});

describe('a local delivery', () => {
  test('without a rider gets the default rider; a rider that is named counts', async () => {
    await setting({ mode: 'both', rider: 'Li', phone: '13700000000' });
    const [without, named] = await Promise.all([paidOrder(), paidOrder()]);
    await admin('PUT', `/orders/${without}/ship`, { delivery_type: 'local', rider_name: ' ' });
    await admin('PUT', `/orders/${named}/ship`, { ...local, rider_phone: '' });
    expect((await orderOf(without)).latest_shipment).toMatchObject({ rider_name: 'Li', rider_phone: '13700000000' });
    expect((await orderOf(named)).latest_shipment).toMatchObject({ rider_name: 'Wang', rider_phone: '13700000000' });
  });

  test('without a rider and without a default is refused', async () => {
    await setting({ mode: 'local', rider: 'Li' });
    const id = await paidOrder();
    expect(await admin('PUT', `/orders/${id}/ship`, { delivery_type: 'local' })).toMatchObject({
      code: 500,
      message: 'Rider phone is required',
    });
  });
});

test('control, zero-width and direction characters are refused by the name of their field; nothing is shipped', async () => {
  await setting({ mode: 'both' });
  const id = await paidOrder();
  const hidden = { company: 'S\u200bF', tracking_no: 'SF1\nSF2', rider_name: 'Li\u202egnaW', rider_phone: '139\u0000' };
  for (const [field, value] of Object.entries(hidden)) {
    const body = { ...(field.startsWith('rider') ? local : express), [field]: value };
    const refused = await admin('PUT', `/orders/${id}/ship`, body);
    expect(refused).toMatchObject({ code: 400, message: expect.stringContaining(`${field}: must not contain`) });
    expect((await admin('PUT', `/orders/${id}/ship`, body, 'zh-CN')).message).toMatch(chinese);
  }
  const rows = [
    { order_id: id, company: 'SF', tracking_no: 'S1' },
    { order_id: id, company: 'SF', tracking_no: 'S\u2028T' },
  ];
  expect(await admin('POST', '/orders/batch/ship', rows)).toMatchObject({
    code: 400,
    message: expect.stringContaining('[1].tracking_no: must not contain line breaks'),
  });
  expect((await orderOf(id)).status).toBe(2);
  await expect(setting({ mode: 'both', rider: 'Li\u202egnaW' })).rejects.toThrow(keys.rider);
  // A scanner ends a number with a line break. A name may have a variation selector.
  const name = '\u845b\u{e0100}';
  await admin('PUT', `/orders/${id}/ship`, { ...local, rider_name: name, tracking_no: 'SF1\r\n' });
  expect((await orderOf(id)).latest_shipment).toMatchObject({ rider_name: name, tracking_no: 'SF1' });
});

test('labels of a shipment are in the language of the reader', async () => {
  const id = await paidOrder();
  await admin('PUT', `/orders/${id}/ship`, express);
  const labels = async (lang: string) => {
    const { latest_shipment: s } = (await admin('GET', `/orders/${id}`, undefined, lang)).data;
    return [s.delivery_type_label, s.direction_label, s.biz_type_label, s.logistics_status_label];
  };
  expect(await labels('en')).toEqual(['Express', 'Outbound', 'Initial', 'Shipped']);
  for (const label of await labels('zh-CN')) expect(label).toMatch(chinese);
});

test('the label of a company is its name in both languages; a code without a name is its own label', async () => {
  const labelsOf = async (company: string) => {
    const id = await paidOrder();
    await admin('PUT', `/orders/${id}/ship`, { ...express, company, tracking_no: 'T1' });
    const shown = async (lang: string) => {
      const { latest_shipment } = (await admin('GET', `/orders/${id}`, undefined, lang)).data;
      const timeline = (await admin('GET', `/orders/${id}/timeline`, undefined, lang)).data;
      return [latest_shipment.company, latest_shipment.company_label, timeline.at(-1).content];
    };
    return [await shown('en'), await shown('zh-CN')];
  };
  expect(await labelsOf('zto')).toEqual([
    ['ZTO', 'ZTO Express', 'ZTO Express T1'],
    ['ZTO', '中通快递', '中通快递 T1'],
  ]);
  expect(await labelsOf('hawk')).toEqual(Array(2).fill(['HAWK', 'HAWK', 'HAWK T1']));
});

test('a batch with bad rows ships the good ones and names the reason of each other', async () => {
  const [good, late, incomplete] = await Promise.all([paidOrder(), paidOrder(), paidOrder()]);
  await admin('PUT', `/orders/${late}/ship`, express);
  const unknown = 2 ** 40;
  const { data } = await admin('POST', '/orders/batch/ship', [
    { order_id: late, company: 'SF', tracking_no: 'S1' },
    { order_id: incomplete, company: 'SF', tracking_no: '' },
    { order_id: good, company: 'ZTO', tracking_no: 'Z1' },
    { order_id: unknown, company: 'SF', tracking_no: 'S2' },
    { order_id: good, company: 'SF', tracking_no: 'S3' },
  ]);
  expect(data.success_ids).toEqual([good]);
  expect(data.fail).toEqual([
    { id: late, reason: 'Cannot ship in current status' },
    { id: incomplete, reason: 'Tracking number is required' },
    { id: unknown, reason: 'Order not found' },
    { id: good, reason: expect.stringContaining('twice') },
  ]);
  expect(await orderOf(good)).toMatchObject({ status: 3, tracking_no: 'Z1', shipments: [{ company: 'ZTO' }] });
});

test('the carrier filter finds orders by any outbound shipment, not by a parcel that came back', async () => {
  const [first, again, back] = await Promise.all([paidOrder(), paidOrder(), paidOrder()]);
  for (const id of [first, again, back]) await admin('PUT', `/orders/${id}/ship`, { ...express, company: 'YD' });
  const { sql } = shop.database;
  const add = (order_id: number, direction: string, biz_type: string) => sql`
    insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, company)
    values (${order_id}, 'express', ${direction}, ${biz_type}, 'DBL')`;
  await add(again, 'outbound', 'reship');
  await add(back, 'inbound', 'return');
  const found = async (company: string) =>
    (await admin('GET', `/orders?logistics_company=${company}`)).data.list.map(({ id }: { id: number }) => id).sort();
  expect(await found('YD')).toEqual([first, again, back].sort());
  expect(await found('dbl')).toEqual([again]);
  await sql`delete from fulfilment.shipments where company = 'DBL'`;
});

test('an order with very many shipments shows fifty: the first one and the newest', async () => {
  const id = await paidOrder();
  await admin('PUT', `/orders/${id}/ship`, express);
  const { sql } = shop.database;
  await sql`
    insert into fulfilment.shipments (order_id, delivery_type, direction, biz_type, tracking_no)
    select ${id}, 'express', 'inbound', 'return', 'R' || n from generate_series(1, 60) as n`;
  const { shipments, latest_shipment } = await orderOf(id);
  expect(shipments).toHaveLength(50);
  expect(latest_shipment.tracking_no).toBe('R60');
  expect(shipments.slice(-2).map((shipment: { tracking_no: string }) => shipment.tracking_no)).toEqual([
    'R12',
    'SF100',
  ]);
  await sql`delete from fulfilment.shipments where order_id = ${id} and biz_type = 'return'`;
});
