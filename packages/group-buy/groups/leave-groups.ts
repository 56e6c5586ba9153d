import { orderStatus } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { EventReader } from '@tradepost/runtime';
import { z } from 'zod';
import { lockOpenGroupsOf, removeOrders } from './leave-store.ts';

const orderOf = z.object({ order_id: z.number(), status: z.number().optional() });
/** Takes cancelled orders out of groups that are still open, so that others can join. Other groups keep them. */
async function leaveGroups(tx: Transaction, orderIds: readonly number[]): Promise<void> {
  const groups = orderIds.length > 0 ? await lockOpenGroupsOf(tx, orderIds) : [];
  if (groups.length > 0) await removeOrders(tx, groups, orderIds);
}

/** Reads the events of orders that were cancelled unpaid, or refunded in full by an after-sale. A repeat changes nothing. */
export const leaveReader: EventReader = {
  name: 'group_buy.leave',
  kinds: ['order.cancelled', 'order.after_sale_ended'],
  async read(tx, events) {
    const gone = events.flatMap(({ name, data }) => {
      const { order_id, status } = orderOf.parse(data);
      return name === 'order.cancelled' || status === orderStatus.cancelled ? [order_id] : [];
    });
    await leaveGroups(tx, gone);
  },
};
