import { defineEvent } from '@tradepost/runtime';
import { z } from 'zod';
import type { Exchange, ExchangeMove } from './exchanges/exchange.ts';
import { productTypes } from './products/product.ts';

const facts = z.object({
  exchange_id: z.number(),
  exchange_no: z.string(),
  user_id: z.number().describe('the shopper'),
  product_id: z.number(),
  product_title: z.string(),
  product_type: z.enum(productTypes),
  qty: z.number(),
  points_cost: z.number().describe('points of the whole exchange'),
  tracking_no: z.string(),
  reason: z.string().describe('why it was cancelled'),
});
export type ExchangeFacts = z.infer<typeof facts>;

export const exchangeFacts = (exchange: Exchange): ExchangeFacts => {
  const { id, exchange_no, user_id, product_id, product_title, product_type, qty, points_cost, tracking_no } = exchange;
  return {
    ...{
      exchange_id: id,
      exchange_no,
      user_id,
      product_id,
      product_title,
      product_type,
      qty,
      points_cost,
      tracking_no,
    },
    reason: exchange.remark,
  };
};

const exchangeEvent = (name: string, about: string) =>
  defineEvent({
    name: `points_exchange.${name}`,
    about,
    data: facts,
    subject: ({ exchange_id }) => `points_exchange:${exchange_id}`,
  });

export const exchangeMade = exchangeEvent('created', 'a shopper exchanged points for a product');

/** The event of each move of an exchange. */
export const eventOfMove = {
  ship: exchangeEvent('shipped', 'the product of an exchange of points was shipped'),
  complete: exchangeEvent(
    'completed',
    'an exchange of points was completed; coupons and virtual goods are when created',
  ),
  cancel: exchangeEvent('canceled', 'an exchange of points was cancelled; its points and stock are back'),
} as const satisfies Record<ExchangeMove, ReturnType<typeof exchangeEvent>>;

export const mallEvents = [exchangeMade, ...Object.values(eventOfMove)];
