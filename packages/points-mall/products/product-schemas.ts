import {
  bit,
  id,
  idOrZero,
  lineText,
  list,
  pageQueryWith,
  text,
  timestamp,
  trimmedText,
  url,
  zeroWhenEmpty,
} from '@tradepost/http';
import { z } from 'zod';
import {
  maxDescription,
  maxImageAddress,
  maxImages,
  maxImagesText,
  maxLimit,
  maxPointsPrice,
  maxSort,
  maxStock,
  maxTitle,
  maxVirtualContent,
} from '../limits.ts';
import { productTypes, soldOut } from './product.ts';

const type = () => z.enum(productTypes).meta({ examples: ['physical'] });
const title = () =>
  lineText(maxTitle)
    .min(1)
    .meta({ examples: ['Enamel mug'] });
const whole = (max: number, example: number) =>
  zeroWhenEmpty(
    z
      .int()
      .min(0)
      .max(max)
      .meta({ examples: [example] }),
  );

/** Fields of a form. An absent field is not changed, or has its default in a new product. */
const fields = {
  points_price: z
    .int()
    .min(1)
    .max(maxPointsPrice)
    .meta({ examples: [300] }),
  stock: zeroWhenEmpty(
    z
      .int()
      .min(soldOut)
      .max(maxStock)
      .meta({ description: 'what is left; 0 = no limit, -1 = sold out', examples: [50] }),
  ),
  sold_count: z
    .int()
    .min(0)
    .max(maxStock)
    .meta({ description: 'as it was read with stock: exchanges since then still count', examples: [0] }),
  cover: text(maxImageAddress).meta({ examples: ['/uploads/demo/enamel-mug.svg'] }),
  images: z
    .union([text(maxImagesText), list(text(maxImageAddress), maxImages)])
    .meta({ description: 'a JSON string of a list, or the list', examples: ['["/uploads/demo/enamel-mug.svg"]'] }),
  description: trimmedText(maxDescription).meta({ examples: ['Holds 300 ml.'] }),
  status: bit(),
  sort: zeroWhenEmpty(
    z
      .int()
      .min(-maxSort)
      .max(maxSort)
      .meta({ examples: [0] }),
  ),
  limit_per_user: whole(maxLimit, 5).describe('0 = no limit'),
  limit_per_day: whole(maxLimit, 2).describe('0 = no limit'),
  coupon_id: zeroWhenEmpty(idOrZero()),
  need_address: z.boolean().meta({ examples: [false] }),
  virtual_content: text(maxVirtualContent).meta({ examples: [''] }),
};
const { points_price, ...others } = fields;

export const productBody = z.object({
  title: title(),
  type: type(),
  points_price,
  ...z.object(others).partial().shape,
});
export const productChangeBody = z.object({ title: title(), type: type(), ...fields }).partial();
export const statusBody = z.object({ status: bit() });

/** The console sends -1 for all states. */
const anyStatus = z
  .union([z.literal(0), z.literal(1), z.literal(-1)])
  .meta({ description: '-1 or absent: all', examples: [1] });
export const adminProductQuery = pageQueryWith({ type: type().optional(), status: anyStatus.optional() });
export const shelfQuery = pageQueryWith({ type: type().optional() });

export const productSchema = z
  .object({
    id: id(),
    title: z.string().meta({ examples: ['Enamel mug'] }),
    type: type(),
    type_label: z.string().meta({ examples: ['Physical Goods'] }),
    points_price: z.int().meta({ examples: [300] }),
    stock: z.int().meta({ description: '0 = no limit, -1 = sold out, else what is left', examples: [50] }),
    sold_out: z.boolean(),
    sold_count: z.int(),
    cover: url(),
    images: z.string().meta({ description: 'the JSON text of a list of addresses', examples: ['[]'] }),
    description: z.string(),
    status: bit(),
    status_label: z.string().meta({ examples: ['On Shelf'] }),
    sort: z.int(),
    limit_per_user: z.int().describe('0 = no limit'),
    limit_per_day: z.int().describe('0 = no limit'),
    coupon_id: idOrZero(),
    need_address: z.boolean(),
    virtual_content: z.string().describe('always empty for shoppers: the exchange shows it'),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'PointsProduct' });
