import type { OrderWithLines } from '@tradepost/orders';
import { defineEvent, minorUnits } from '@tradepost/runtime';
import { z } from 'zod';
import type { MoveName } from './case-moves.ts';
import { caseTypes } from './case-moves.ts';

const caseFacts = z.object({
  case_id: z.number(),
  case_no: z.string(),
  case_type: z.enum(caseTypes),
  order_id: z.number(),
  order_no: z.string(),
  user_id: z.number().describe('the shopper'),
  refund_amount: minorUnits('the amount of the case, 0 for an exchange'),
  operator: z.enum(['user', 'admin', 'system']).describe('who moved the case'),
  items: z
    .array(
      z.object({
        order_item_id: z.number(),
        sku_id: z.number(),
        activity_product_id: z.number().describe('0 for an ordinary line'),
        qty: z.number(),
      }),
    )
    .describe('the order lines of the case with the pieces to return'),
});
export type CaseFacts = z.infer<typeof caseFacts>;

/** The lines of a case, from the lines of its order. */
export function itemFacts(
  order: Pick<OrderWithLines, 'items'>,
  items: readonly { order_item_id: number; qty: number }[],
): CaseFacts['items'] {
  const lines = new Map(order.items.map((line) => [line.id, line]));
  return items.map(({ order_item_id, qty }) => {
    const { sku_id, activity_product_id } = lines.get(order_item_id)!;
    return { order_item_id, sku_id, activity_product_id, qty };
  });
}

const caseEvent = (name: string, about: string) =>
  defineEvent({ name: `after_sale.${name}`, about, data: caseFacts, subject: ({ order_id }) => `order:${order_id}` });

export const caseApplied = caseEvent('applied', 'a shopper applied for a return or an exchange');

/** The event of each move of a case. */
export const eventOfMove = {
  approve: caseEvent('approved', 'the merchant approved an after-sale case'),
  reject: caseEvent('rejected', 'the merchant rejected an after-sale case'),
  return_ship: caseEvent('return_shipped', 'the goods of an after-sale case are on their way to the merchant'),
  receive: caseEvent('received', 'the merchant received the goods of an after-sale case'),
  refund: caseEvent(
    'refunded',
    'the refund of an after-sale case was registered; order.refunded follows with the money',
  ),
  reship: caseEvent('reshipped', 'the replacement of an exchange was shipped'),
  complete: caseEvent('completed', 'an after-sale case was completed'),
  close: caseEvent('closed', 'an after-sale case was closed before a refund or a replacement'),
} as const satisfies Record<MoveName, ReturnType<typeof caseEvent>>;

export const caseEvents = [caseApplied, ...Object.values(eventOfMove)];
