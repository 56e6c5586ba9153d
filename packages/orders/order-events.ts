import type { Statement, Transaction } from '@tradepost/postgres';
import { defineEvent, minorUnits, recordEvents } from '@tradepost/runtime';
import { z } from 'zod';

const orderFacts = z.object({
  order_id: z.number(),
  order_no: z.string(),
  user_id: z.number().describe('the shopper'),
  total_amount: minorUnits('what the shopper pays'),
});
export type OrderFacts = z.infer<typeof orderFacts>;

const subject = ({ order_id }: { order_id: number }) => `order:${order_id}`;

export const orderPlaced = defineEvent({
  name: 'order.placed',
  about: 'a shopper placed an order',
  data: orderFacts,
  subject,
});
export const orderPaid = defineEvent({
  name: 'order.paid',
  about: 'an order was paid',
  data: orderFacts,
  subject,
});
export const orderCancelled = defineEvent({
  name: 'order.cancelled',
  about:
    'an unpaid order was cancelled by the shopper, the merchant or the time limit, or a paid one because its group failed',
  data: orderFacts.extend({
    reason: z
      .enum(['user_cancel', 'timeout', 'merchant_close', 'group_failed'])
      .describe('group_failed: the order was paid, and is refunded in full'),
  }),
  subject,
});
export const orderCompleted = defineEvent({
  name: 'order.completed',
  about: 'a shipped order was completed, by a review or after some days',
  data: orderFacts.extend({ trigger: z.enum(['reviewed', 'auto_complete']) }),
  subject,
});
export const orderAfterSaleEnded = defineEvent({
  name: 'order.after_sale_ended',
  about: 'the last after-sale case of an order has ended',
  data: orderFacts.extend({ status: z.number().describe('the status that the order has now: 2, 3, 4 or 6') }),
  subject,
});
export const orderRefunded = defineEvent({
  name: 'order.refunded',
  about: 'the payment provider returned money of an order to its shopper',
  data: orderFacts.extend({ refund_no: z.string(), amount: minorUnits('the refund') }),
  subject,
});

export const orderEvents = [
  ...[orderPlaced, orderPaid, orderCancelled, orderCompleted],
  ...[orderAfterSaleEnded, orderRefunded],
];

/** The facts of an order row that has the columns of `OrderFacts`. */
export const factsOf = (order: { id: number } & Omit<OrderFacts, 'order_id'>): OrderFacts => ({
  order_id: order.id,
  order_no: order.order_no,
  user_id: order.user_id,
  total_amount: order.total_amount,
});

/** The statements that record events of these orders: none when there is no order. */
export const recordOrders = <Facts extends OrderFacts>(
  tx: Transaction,
  kind: ReturnType<typeof defineEvent<Facts>>,
  facts: readonly Facts[],
  now: Date,
): Statement[] => (facts.length === 0 ? [] : [recordEvents(tx, kind, facts, now)]);
