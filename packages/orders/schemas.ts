import { productCardView, skuViewSchema } from '@tradepost/catalog';
import { amount, bit, id, idOrZero, list, pageQueryWith, text, timestamp, url } from '@tradepost/http';
import { z } from 'zod';
import { activitySnapshot } from './cart/cart-activities.ts';
import { maxLineQty } from './cart/cart-store.ts';
import { discountAmount, freightAmount, goodsAmount, payableAmount } from './example-amounts.ts';
import { maxLines, maxNotes, maxReviewAppends, maxReviewImages, maxShipments } from './limits.ts';

const qty = z
  .int()
  .min(-1_000_000)
  .max(1_000_000)
  .meta({ examples: [2] });

export const cartAddBody = z.object({
  sku_id: id(),
  qty: qty
    .default(1)
    .meta({ description: `values below 1 count as 1; a line has at most ${maxLineQty} pieces`, examples: [2] }),
  activity_product_id: idOrZero().default(0),
});
export const cartQtyBody = z.object({
  sku_id: id(),
  qty: qty.meta({ description: '0 or less removes the line', examples: [2] }),
  activity_product_id: idOrZero().default(0),
});
export const cartKeyParams = z.object({ sku_id: id() });
/** Sent in the body or in the query. The body takes precedence. */
export const cartKeyPart = z.object({ activity_product_id: idOrZero().optional() });

export const cartLineView = z
  .object({
    sku_id: id(),
    activity_product_id: idOrZero(),
    qty: z.int().meta({ examples: [2] }),
    product: productCardView,
    sku: skuViewSchema,
    activity_snapshot: activitySnapshot
      .optional()
      .meta({ description: 'only for a line with an activity that exists' }),
  })
  .meta({ id: 'CartLine' });

const selectionFields = {
  items: z
    .array(z.object({ sku_id: id(), activity_product_id: idOrZero().default(0) }))
    .max(maxLines)
    .optional()
    .meta({
      description: 'Takes precedence over sku_ids. A pair that is not in the cart is ordered directly, one piece.',
      examples: [[{ sku_id: 1, activity_product_id: 0 }]],
    }),
  sku_ids: z
    .array(id())
    .max(maxLines)
    .optional()
    .meta({ description: 'Selected cart lines. Without items and sku_ids the whole cart is ordered' }),
};
/** The body of a quote. `choices` are the fields of the price steps. */
export const quoteBody = (choices: z.ZodRawShape) => z.object({ ...selectionFields, ...choices });
/** The body of a new order. `methods` are the payment methods that it can name. */
export const placeOrderBody = (choices: z.ZodRawShape, methods: readonly string[]) =>
  z.object({
    address_id: id(),
    payment_method: z
      .enum(methods)
      .optional()
      .meta({
        description:
          'default: the method of the provider in the setting pay.provider, if it has one; else wechat. An order that is paid at a ' +
          'provider of another method gets the method of that provider.',
      }),
    ...selectionFields,
    remark: text(500)
      .default('')
      .meta({ examples: ['Please ring twice'] }),
    ...choices,
  });

const status = z
  .int()
  .min(1)
  .max(6)
  .meta({ examples: [1] });
export const breakdown = z
  .object({
    goods_amount: goodsAmount(),
    discount_amount: discountAmount(),
    freight_amount: freightAmount(),
    payable_amount: payableAmount(),
  })
  .meta({ id: 'AmountBreakdown' });
/** Bounded by the coupons and activities that one order can use. */
const maxDiscounts = 100;
export const discounts = list(
  z
    .object({
      type: z.string().meta({
        description: 'member, full_reduce, coupon, points, or repricing for a change by the merchant',
        examples: ['coupon'],
      }),
      type_label: z.string().meta({ examples: ['Coupon'] }),
      name: z.string().meta({
        description: 'the name of the level, full reduction or coupon; for points and repricing that of the type',
        examples: ['5 off from 20'],
      }),
      amount: discountAmount(),
      discount: discountAmount().meta({ description: 'the same as amount' }),
    })
    .meta({ id: 'Discount' }),
  maxDiscounts,
);

const addressSnapshot = z.object({
  id: idOrZero(),
  user_id: idOrZero(),
  name: z.string().meta({ examples: ['Li Wei'] }),
  phone: z.string().meta({ examples: ['13800000000'] }),
  province: z.string(),
  city: z.string(),
  district: z.string(),
  detail: z.string().meta({ examples: ['12 Lakeside Road'] }),
  is_default: bit(),
});

const orderRow = {
  id: id(),
  order_no: z.string().meta({ examples: ['1772358600000000001'] }),
  user_id: idOrZero().meta({
    description: '0: the order of an older shop, whose shopper has no account',
    examples: [1],
  }),
  merchant_id: id(),
  status,
  status_label: z.string().meta({ examples: ['Pending Payment'] }),
  inventory_status: z.enum(['none', 'pending', 'reserved', 'confirmed', 'released', 'failed']),
  inventory_status_label: z.string().meta({ examples: ['Reserved'] }),
  payment_method: z.string().meta({ examples: ['wechat'] }),
  payment_method_label: z.string().meta({ examples: ['WeChat Pay'] }),
  goods_amount: goodsAmount(),
  discount_amount: discountAmount(),
  freight_amount: freightAmount(),
  total_amount: payableAmount(),
  amount_breakdown: breakdown,
  discounts: discounts.meta({ description: 'the parts of discount_amount' }),
  address_snapshot: addressSnapshot,
  remark: z.string(),
  tracking_no: z.string().meta({ examples: ['SF1234567890'] }),
  expires_at: timestamp(),
  paid_at: timestamp().nullable(),
  created_at: timestamp(),
  updated_at: timestamp(),
};
export const orderRowSchema = z.object(orderRow).meta({ id: 'Order' });

const score = z
  .int()
  .min(1)
  .max(5)
  .meta({ examples: [5] });
const reviewImages = list(url(), maxReviewImages);
const written = { id: id(), review_id: id(), content: z.string(), created_at: timestamp(), updated_at: timestamp() };
/** The review of an order line. The package that owns reviews fills it in. */
export const reviewSchema = z
  .object({
    id: id(),
    order_id: id(),
    order_item_id: id(),
    order_no: z.string().meta({
      description: 'masked in the middle where every visitor reads it',
      examples: ['1772358600000000001'],
    }),
    product_id: id(),
    user_id: id(),
    merchant_id: id(),
    product_score: score,
    logistics_score: score,
    content: z.string(),
    images: reviewImages,
    edited_times: z.int(),
    created_at: timestamp(),
    updated_at: timestamp(),
    user_nickname: z.string(),
    user_avatar: z.string(),
    appends: list(z.object({ ...written, user_id: id(), images: reviewImages }), maxReviewAppends),
    admin_reply: z.object({ ...written, admin_id: id() }).nullable(),
  })
  .meta({ id: 'Review' });
export type OrderItemReview = z.input<typeof reviewSchema>;

const itemOf = (what: string) =>
  idOrZero().meta({ description: `0: the line of an older shop, whose ${what} is not in this shop`, examples: [1] });
const orderItemSchema = z
  .object({
    id: id(),
    order_item_id: id(),
    order_id: id(),
    warehouse_id: idOrZero(),
    product_id: itemOf('product'),
    sku_id: itemOf('SKU'),
    activity_product_id: idOrZero(),
    activity_id: idOrZero(),
    activity_type: z.string().meta({ examples: [''] }),
    activity_title: z.string().meta({ examples: [''] }),
    title: z.string().meta({ examples: ['Enamel mug'] }),
    cover: url(),
    attrs: z.string().meta({ description: 'JSON text', examples: ['[{"name":"Colour","value":"Cream"}]'] }),
    price: amount(),
    qty: z.int().meta({ examples: [2] }),
    payable_amount: payableAmount().meta({
      description: 'what the buyer pays for the line, after its share of the discounts',
    }),
    discounts: discounts.meta({ description: 'the shares of the line in the discounts of the order' }),
    review: reviewSchema.optional(),
  })
  .meta({ id: 'OrderItem' });

/** A shipment. The package fulfilment fills it in. */
export const shipmentSchema = z
  .object({
    id: id(),
    order_id: id(),
    after_sale_case_id: idOrZero(),
    delivery_type: z.enum(['express', 'local']),
    delivery_type_label: z.string().meta({ examples: ['Express'] }),
    direction: z.enum(['outbound', 'inbound']),
    direction_label: z.string().meta({ examples: ['Outbound'] }),
    biz_type: z.enum(['initial', 'reship', 'return']),
    biz_type_label: z.string().meta({ examples: ['Initial'] }),
    company: z.string().meta({ examples: ['SF'] }),
    company_label: z.string().meta({
      description: 'name of the company; a code that is not in the list of companies is its own label',
      examples: ['SF Express'],
    }),
    tracking_no: z.string().meta({ examples: ['SF1234567890'] }),
    rider_name: z.string().meta({ examples: [''] }),
    rider_phone: z.string().meta({ examples: [''] }),
    channel_provider: z.string().meta({ examples: [''] }),
    logistics_status: z.enum(['pending', 'shipped', 'in_transit', 'signed', 'exception']),
    logistics_status_label: z.string().meta({ examples: ['Pending Pickup'] }),
    last_query_at: timestamp().nullable(),
    last_sync_ok_at: timestamp().nullable(),
    sync_fail_count: z.int().meta({ examples: [0] }),
    remark: z.string(),
    shipped_at: timestamp().nullable(),
    signed_at: timestamp().nullable(),
    created_by_type: z.enum(['admin', 'user', 'system']),
    created_by_type_label: z.string().meta({ examples: ['Merchant'] }),
    created_by_id: idOrZero(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Shipment' });
export type ShipmentView = z.input<typeof shipmentSchema>;

const afterSaleSummary = z
  .object({
    in_progress_count: z.int().meta({ examples: [0] }),
    has_open_case: z.boolean(),
    latest_case_id: idOrZero(),
    latest_status: z.string().meta({ examples: [''] }),
    latest_status_label: z.string().meta({ examples: [''] }),
    can_apply: z.boolean().meta({ description: 'whether the buyer may apply for an after-sale' }),
  })
  .meta({ id: 'AfterSaleSummary' });
export type AfterSaleSummary = z.input<typeof afterSaleSummary>;

const orderView = {
  ...orderRow,
  activity_type: z.string().meta({
    description: 'activity type of the first line that has an activity; empty when no line has one',
    examples: [''],
  }),
  activity_name: z.string().meta({ examples: [''] }),
  items: list(orderItemSchema, maxLines),
  shipments: list(shipmentSchema, maxShipments).meta({ description: 'newest first' }),
  latest_shipment: shipmentSchema.optional(),
  after_sale_summary: afterSaleSummary,
};
export const orderViewSchema = z.object(orderView).meta({ id: 'OrderView' });

export const adminOrderSchema = z
  .object({
    ...orderView,
    user_nickname: z.string().meta({ examples: ['Demo'] }),
    pay_amount: payableAmount(),
    pay_method: z.string().meta({ examples: ['wechat'] }),
    receiver_name: z.string().meta({ examples: ['Li Wei'] }),
    receiver_phone: z.string().meta({ examples: ['13800000000'] }),
    receiver_address: z.string().meta({ examples: ['Zhejiang Hangzhou Xihu 12 Lakeside Road'] }),
    has_after_sale: z.boolean().meta({ description: 'whether the order has or had an after-sale case' }),
    notes: list(z.object({ id: id(), content: z.string(), visible_to: z.string(), created_at: timestamp() }), maxNotes),
  })
  .meta({ id: 'AdminOrder' });

/** Status 0, or no status, means all orders. */
export const orderListQuery = pageQueryWith({
  status: z
    .int()
    .min(0)
    .max(6)
    .optional()
    .meta({ examples: [0] }),
});
