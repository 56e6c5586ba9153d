import { auditViolations } from '@tradepost/testing/audit-violations';
import { chinese } from '@tradepost/testing/routes/contract';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type CaseShop, openCaseShop } from '../testing/case-shop.ts';

let shop: Shop;
let at: CaseShop;
beforeAll(async () => {
  shop = await openShop(
    { databasePool: 12 },
    {
      'delivery_router.delivery_mode': 'both',
      'sms.provider': 'log',
      'notices.enabled': ['order_shipped', 'order_reshipped'],
    },
  );
  at = await openCaseShop(shop);
});
afterEach(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
afterAll(() => shop?.close());

/** A shipped order of three pieces with an exchange that waits for its replacement. */
async function exchange(qty = 1) {
  const order = await at.buy({ quantities: [3] });
  const id = await at.openCase(order, 'exchange', qty);
  await at.bring(order, id, 'exchange', 'reship_pending');
  return { order, id, stock: await at.stockOf(order.sku_ids[0]!) };
}
const orderOf = (id: number) => at.send('GET', `/admin/api/orders/${id}`, at.staff);
const local = { delivery_type: 'local', company: '', tracking_no: '', rider_name: 'Li', rider_phone: '13700000000' };

test('an incomplete or wrong re-shipment is refused, and nothing moves', async () => {
  const { order, id, stock } = await exchange();
  const refused = async (body: object, code: number, message: string) => {
    expect(await at.reship(order, id, body)).toMatchObject({ status: 200, code, message });
  };
  await refused({ after_sale_case_id: 0 }, 500, 'Reship requires an after-sale case');
  await refused({ after_sale_case_id: '' }, 500, 'Reship requires an after-sale case');
  await refused({ after_sale_case_id: 2 ** 40 }, 500, 'After-sale case does not match order');
  await refused({ company: '' }, 500, 'Please select an express company');
  await refused({ tracking_no: ' ' }, 500, 'Tracking number is required');
  await refused({ ...local, rider_name: '' }, 500, 'Rider name is required');
  const body = { ship_type: 'reship', after_sale_case_id: id, company: 'SF', tracking_no: 'X' };
  const unknown = await shop.call('PUT', `/admin/api/orders/${2 ** 40}/ship`, { token: at.staff, body });
  expect(unknown).toMatchObject({ code: 404, message: 'Order not found' });
  const inChinese = await shop.call('PUT', `/admin/api/orders/${order.id}/ship`, {
    ...{ token: at.staff, lang: 'zh-CN' },
    body: { ...body, after_sale_case_id: 2 ** 40 },
  });
  expect(inChinese.message).toMatch(chinese);
  expect(await at.statusOf(id)).toBe('reship_pending');
  expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock);
  expect((await orderOf(order.id)).tracking_no).toBe(`SF${order.id}`);
});

test('a replacement by rider keeps the last tracking number of the order', async () => {
  const { order, id } = await exchange();
  expect(await at.reship(order, id, local)).toMatchObject({ code: 0, data: null });
  const shown = await orderOf(order.id);
  expect(shown).toMatchObject({ status: 5, tracking_no: `SF${order.id}` });
  expect(shown.latest_shipment).toMatchObject({
    ...{ delivery_type: 'local', biz_type: 'reship', biz_type_label: 'Reship', direction: 'outbound' },
    ...{ rider_name: 'Li', after_sale_case_id: id, created_by_type: 'admin', created_by_id: at.staffId },
  });
});

test('twenty re-shipments of one case at once make one shipment and take the goods once', async () => {
  const { order, id, stock } = await exchange(2);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => at.reship(order, id, { tracking_no: `T${n}` })),
  );
  expect(answers.filter(({ code }) => code === 0)).toHaveLength(1);
  const messages = new Set(answers.filter(({ code }) => code !== 0).map(({ message }) => message));
  expect([...messages]).toEqual(['After-sale status does not allow reship']);
  const { shipments, tracking_no } = await orderOf(order.id);
  const reships = shipments.filter((shipment: { biz_type: string }) => shipment.biz_type === 'reship');
  expect(reships).toHaveLength(1);
  expect(tracking_no).toBe(reships[0].tracking_no);
  expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock - 2);
});

test('a repeat with the same Idempotency-Key gets the answer of the first request and ships nothing', async () => {
  const { order, id, stock } = await exchange();
  const send = () =>
    shop.call('PUT', `/admin/api/orders/${order.id}/ship`, {
      token: at.staff,
      body: { ship_type: 'reship', after_sale_case_id: id, company: 'SF', tracking_no: 'K1' },
      headers: { 'idempotency-key': `reship-${id}` },
    });
  expect(await send()).toMatchObject({ code: 0 });
  expect(await send()).toMatchObject({ code: 0 });
  expect(await at.stockOf(order.sku_ids[0]!)).toBe(stock - 1);
});

test('the buyer is notified of each shipment, in the transaction that ships, and of no refused one', async () => {
  const { order, id } = await exchange();
  await at.reship(order, id, { company: 'zto', tracking_no: 'Z9' });
  await at.reship(order, id, { tracking_no: 'Z10' });
  const messages = await shop.database.sql`
    select notice, user_id, phone, params from identity.messages where user_id = ${order.user_id} order by id`;
  const { order_no } = await orderOf(order.id);
  expect(messages.map((row) => ({ ...row }))).toEqual([
    {
      ...{ notice: 'order_shipped', user_id: order.user_id, phone: '13800000000' },
      params: { order_no, parcel: `SF SF${order.id}` },
    },
    {
      ...{ notice: 'order_reshipped', user_id: order.user_id, phone: '13800000000' },
      params: { order_no, parcel: 'ZTO Z9' },
    },
  ]);
});

test('a shipment by carrier enqueues its first query, a delivery by rider none', async () => {
  const jobs = async () =>
    (
      await shop.database.sql`
        select j.payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
        where t.identifier = 'fulfilment.sync_shipments'`
    ).flatMap((row) => row.payload.shipment_ids as number[]);
  await at.buy();
  expect(await jobs(), 'no carrier service is set up').toEqual([]);
  await shop.server.runtime.settings.setMany({ 'logistics_kuaidi100.customer': 'c', 'logistics_kuaidi100.key': 'k' });
  const order = await at.buy();
  const { latest_shipment } = await orderOf(order.id);
  expect(await jobs()).toEqual([latest_shipment.id]);
  const byRider = await at.buy({ status: 'paid' });
  await at.send('PUT', `/admin/api/orders/${byRider.id}/ship`, at.staff, local);
  expect(await jobs()).toEqual([latest_shipment.id]);
});
