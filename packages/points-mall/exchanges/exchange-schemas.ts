import { id, idOrZero, lineText, list, pageQueryWith, timestamp, trimmedText, url } from '@tradepost/http';
import { z } from 'zod';
import { maxAddressDetail, maxAddressPart, maxQty, maxReason, maxTrackingNo } from '../limits.ts';
import { productTypes } from '../products/product.ts';
import { exchangeStatuses } from './exchange.ts';

const part = (example: string) => lineText(maxAddressPart).meta({ examples: [example] });
const detail = () => lineText(maxAddressDetail).meta({ examples: ['12 Lakeside Road'] });

export const exchangeBody = z.object({
  qty: z
    .int()
    .min(1)
    .max(maxQty)
    .default(1)
    .meta({ examples: [1] }),
  address_snapshot: z
    .object({
      name: part('Li Wei'),
      phone: part('13700000000'),
      province: part('Zhejiang'),
      city: part('Hangzhou'),
      district: part('Xihu'),
      address: detail(),
      detail: detail().describe('another name of address'),
    })
    .partial()
    .nullable()
    .optional()
    .describe('where goods are sent; absent: the default address of the shopper'),
});

export const shipBody = z.object({
  tracking_no: lineText(maxTrackingNo)
    .optional()
    .meta({ examples: ['SF1234567890'] }),
});
export const cancelBody = z.object({
  reason: trimmedText(maxReason)
    .default('')
    .meta({ examples: ['Out of stock'] }),
});

/** The console sends -1 for all states. */
const anyStatus = z
  .enum([...exchangeStatuses, 'all', '-1', '0'])
  .meta({ description: 'all, -1, 0 or absent: all', examples: ['pending_ship'] });
export const exchangeQuery = pageQueryWith({ status: anyStatus.optional() });
export const adminExchangeQuery = pageQueryWith({ status: anyStatus.optional(), user_id: idOrZero().optional() });

const addressView = z.object({
  name: z.string().meta({ examples: ['Li Wei'] }),
  phone: z.string().meta({ examples: ['13700000000'] }),
  province: z.string(),
  city: z.string(),
  district: z.string(),
  address: z.string().meta({ examples: ['12 Lakeside Road'] }),
  detail: z.string(),
});

export const exchangeSchema = z
  .object({
    id: id(),
    exchange_no: z.string().meta({ examples: ['EX20260301093000000001'] }),
    user_id: id(),
    product_id: id(),
    product_title: z.string().meta({ examples: ['Enamel mug'] }),
    product_type: z.enum(productTypes),
    product_type_label: z.string().meta({ examples: ['Physical Goods'] }),
    product_cover: url(),
    points_cost: z.int().meta({ description: 'points of the whole exchange', examples: [300] }),
    qty: z.int().min(1),
    status: z.enum(exchangeStatuses),
    status_label: z.string().meta({ examples: ['Pending Shipment'] }),
    address_snapshot: addressView.nullable(),
    tracking_no: z.string().meta({ examples: ['SF1234567890'] }),
    coupon_user_id: idOrZero().describe('the first issued coupon of the shopper; 0 = none'),
    coupon_user_ids: list(id(), maxQty),
    virtual_content: z.string(),
    remark: z.string().describe('why it was cancelled'),
    created_at: timestamp(),
    shipped_at: timestamp().nullable(),
    completed_at: timestamp().nullable(),
    canceled_at: timestamp().nullable(),
  })
  .meta({ id: 'PointsExchange' });

export const adminExchangeSchema = exchangeSchema
  .extend({ user_nickname: z.string().meta({ examples: ['Li Wei'] }) })
  .meta({ id: 'AdminPointsExchange' });
