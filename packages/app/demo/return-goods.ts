import { orderStatus } from '@tradepost/orders';
import type { Bought } from './buy.ts';
import type { Shipped } from './ship.ts';
import { type Client, money, type Story } from './story.ts';

/** The shopper asks to return the first line and sends it back. */
async function sendBack(story: Story, { shopper, order }: Bought, staff: Client) {
  const mine = { path: { id: order.id } };
  const { items } = await shopper.get('/api/v1/orders/{id}', mine);
  const line = items[0]!;
  const { id } = await story.step(
    'ask to return one piece',
    () =>
      shopper.post('/api/v1/orders/{id}/after-sales', {
        ...mine,
        body: {
          case_type: 'return',
          reason: 'Wrong colour',
          apply_content: 'I wanted the other one.',
          apply_images: [],
          items: [{ order_item_id: line.order_item_id, qty: 1 }],
        },
      }),
    (made) => `case ${made.id}: ${line.title}`,
  );
  const ofCase = { path: { id } };
  await story.step(
    'the shop approves',
    () =>
      staff.post('/admin/api/after-sales/{id}/audit', {
        ...ofCase,
        body: { approve: true, audit_remark: 'Please send it back' },
      }),
    () => 'approved',
  );
  const tracking_no = `YTO${order.order_no.slice(-12)}`;
  await story.step(
    'the shopper sends it back',
    () =>
      shopper.post('/api/v1/after-sales/{id}/return-shipments', { ...ofCase, body: { company: 'YTO', tracking_no } }),
    () => `YTO ${tracking_no}`,
  );
  return id;
}

/** A return of one piece with a partial refund, to its end: the order is completed again. */
export async function returnGoods(story: Story, bought: Bought, { staff }: Shipped) {
  const { shopper, order } = bought;
  const id = await sendBack(story, bought, staff);
  const ofCase = { path: { id } };
  await story.step(
    'the goods arrive, stock comes back',
    () => staff.post('/admin/api/after-sales/{id}/receive', ofCase),
    () => 'received',
  );
  const { refund_amount } = await staff.get('/admin/api/after-sales/{id}', ofCase);
  // Half of the price: the packaging was damaged.
  const amount = Math.round(refund_amount * 50) / 100;
  await story.step(
    'refund a part',
    () =>
      staff.post('/admin/api/after-sales/{id}/refund', { ...ofCase, body: { amount, reason: 'Packaging damaged' } }),
    () => `${money(amount)} of ${money(refund_amount)}`,
  );
  await story.step(
    'complete the case',
    () => staff.post('/admin/api/after-sales/{id}/complete', ofCase),
    () => 'done',
  );
  await story.step(
    'the shopper reads the case',
    async () => {
      const [read, after] = await Promise.all([
        shopper.get('/api/v1/after-sales/{id}', ofCase),
        shopper.get('/api/v1/orders/{id}', { path: { id: order.id } }),
      ]);
      story.expect(read.status === 'completed', `case ${id} is ${read.status_label}`);
      story.expect(after.status === orderStatus.completed, `order ${order.id} is ${after.status_label}`);
      return read;
    },
    (read) => `${read.status_label}: ${read.logs.map(({ action_label }) => action_label).join(', ')}`,
  );
}
