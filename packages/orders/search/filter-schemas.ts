import { amountInput, pageQueryWith, text } from '@tradepost/http';
import { z } from 'zod';
import { orderListQuery } from '../schemas.ts';

const time = () => text(40).trim().optional();
/** The filters of the back office. An order must match all filters that are given. */
const filters = {
  ...orderListQuery.pick({ status: true }).shape,
  keyword: text(100)
    .trim()
    .optional()
    .meta({
      description:
        'Order id, order number or its first digits, nickname, name or phone of the receiver, title of an item',
      examples: [''],
    }),
  time_start: time().meta({
    description: 'Created at this time or later; without an offset, in the time zone of the shop',
    examples: ['2026-03-01'],
  }),
  time_end: time().meta({
    description: 'Created at this time or earlier; a date includes the whole day',
    examples: ['2099-03-01'],
  }),
  amount_min: amountInput()
    .optional()
    .meta({ description: 'Payable amount', examples: [0] }),
  amount_max: amountInput()
    .optional()
    .meta({ examples: [1000] }),
  logistics_company: text(32)
    .trim()
    .toUpperCase()
    .optional()
    .meta({ description: 'Carrier code of a shipment', examples: [''] }),
  province: text(64)
    .trim()
    .optional()
    .meta({ description: 'Part of the province of the address', examples: [''] }),
  pay_method: text(32)
    .trim()
    .optional()
    .meta({ examples: ['wechat'] }),
  has_after_sale: z
    .boolean()
    .optional()
    .meta({ description: 'true: only orders with an after-sale case', examples: [false] }),
};
export const adminOrderListQuery = pageQueryWith(filters);
const filterQuery = z.object(filters);
export type AdminOrderFilterQuery = z.output<typeof filterQuery>;

const leftOut = (description: string) =>
  z
    .boolean()
    .optional()
    .meta({ description, examples: [false] });
/** The filters of the list, and the columns of the file. */
export const orderExportQuery = filterQuery.extend({
  no_receivers: leftOut('true: without names, phones, accounts and addresses'),
  no_ids: leftOut('true: without ids, for a file that another shop imports'),
});
export const ordersFile = z.string().meta({
  description:
    'UTF-8 with a byte order mark, lines end with CRLF; cells that begin like a formula get an apostrophe. One line per item. ' +
    'The columns are those of the command `tradepost orders export`.',
  examples: ['order_no,order_id,status,status_label,created_at,paid_at\r\n'],
});
