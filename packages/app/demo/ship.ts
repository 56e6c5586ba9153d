import { orderStatus } from '@tradepost/orders';
import type { Bought } from './buy.ts';
import type { Client, Login, Story } from './story.ts';

/** An administrator ships the order, and the shopper sees it. */
export async function ship(story: Story, visitor: Client, login: Login, { shopper, order }: Bought) {
  const mine = { path: { id: order.id } };
  const { token } = await story.step(
    `log in as ${login.username}`,
    () => visitor.post('/admin/api/auth/login', { body: login }),
    () => 'token received',
  );
  const staff = visitor.with({ token });
  await story.step(
    'find it among the orders to ship',
    async () => {
      const list = await staff.get('/admin/api/orders', { query: { status: orderStatus.paid } });
      story.expect(
        list.list.some((row) => row.id === order.id),
        `order ${order.id} is not in the first page to ship`,
      );
      return list;
    },
    (list) => `${list.total} to ship`,
  );
  const tracking_no = `SF${order.order_no.slice(-12)}`;
  await story.step(
    'ship it',
    () =>
      staff.put('/admin/api/orders/{id}/ship', {
        ...mine,
        body: { ship_type: 'initial', company: 'SF', tracking_no, remark: 'demo' },
      }),
    () => `SF ${tracking_no}`,
  );
  const { latest_shipment } = await story.step(
    'the shopper sees the shipment',
    async () => {
      const shipped = await shopper.get('/api/v1/orders/{id}', mine);
      story.expect(
        shipped.status === orderStatus.shipped && shipped.tracking_no === tracking_no,
        `order ${order.id} is ${shipped.status_label}`,
      );
      return shipped;
    },
    (shipped) => `${shipped.status_label}, ${shipped.latest_shipment?.company} ${shipped.latest_shipment?.tracking_no}`,
  );
  return { staff, shipment_id: latest_shipment!.id };
}

export type Shipped = Awaited<ReturnType<typeof ship>>;
