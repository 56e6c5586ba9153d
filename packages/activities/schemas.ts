import { toWire } from '@tradepost/core';
import {
  amount,
  amountInput,
  bit,
  id,
  idOrZero,
  list,
  pageQueryWith,
  requiredText,
  text,
  timestamp,
  url,
} from '@tradepost/http';
import { z } from 'zod';
import { type ActivityKind, type ActivityOption, activityOptions, activityTypes } from './activity-kinds.ts';
import { maxActivityProducts, maxName, maxPieces } from './limits.ts';

type OptionShape = Record<ActivityOption, z.ZodOptional<z.ZodNumber>>;

/** The options of a kind in answers: these fields are always there, and those of other kinds are not. */
const optionViews = ({ options }: Pick<ActivityKind, 'options'>) =>
  Object.fromEntries(
    options.map(({ name, unit, value, about }) => [
      name,
      unit === 'amount'
        ? amount().meta({ description: about, examples: [toWire(value)] })
        : z.int().meta({ description: about, examples: [value] }),
    ]),
  ) as unknown as OptionShape;

const optionInputs = ({ options }: ActivityKind) =>
  Object.fromEntries(
    options.map(({ name, unit, value, min, max, about }) => {
      const description = `${about}; default ${unit === 'amount' ? toWire(value) : value}`;
      const field =
        unit === 'amount'
          ? z
              .number()
              .min(toWire(min))
              .max(toWire(max))
              .meta({ description, examples: [toWire(value)] })
          : z
              .int()
              .min(min)
              .max(max)
              .meta({ description, examples: [value] });
      return [name, field.optional()];
    }),
  ) as OptionShape;

/** `Seckill`: the schemas of a kind are named after it. */
const nameOf = ({ type }: ActivityKind) => type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const label = () => z.string().meta({ examples: ['Active'] });

export const activitySchema = (kind: ActivityKind) =>
  z
    .object({
      id: id(),
      type: z.enum(activityTypes).meta({ examples: [kind.type] }),
      type_label: z.string().meta({ examples: [kind.label.en] }),
      name: z.string().meta({ examples: ['Weekend sale'] }),
      start_at: timestamp(),
      end_at: timestamp().meta({ description: 'the activity ends before this time' }),
      status: bit(),
      status_label: label(),
      ...optionViews(kind),
      created_at: timestamp(),
      updated_at: timestamp(),
    })
    .meta({ id: `${nameOf(kind)}Activity` });

const moment = (example: string) =>
  text(40).meta({
    description: 'ISO 8601; without an offset it is in the time zone of the shop',
    examples: [example],
  });
const activityName = () => requiredText(maxName).meta({ examples: ['Weekend sale'] });
const starts = () => moment('2026-03-01T09:30:00');
const ends = () => moment('2026-03-08T09:30:00');

export const activityBody = (kind: ActivityKind) =>
  z.object({
    name: activityName(),
    start_at: starts(),
    end_at: ends(),
    status: bit().default(1),
    ...optionInputs(kind),
  });
/** Absent fields stay. */
export const activityChanges = (kind: ActivityKind) =>
  z.object({
    name: activityName().optional(),
    start_at: starts().optional(),
    end_at: ends().optional(),
    status: bit().optional(),
    ...optionInputs(kind),
  });
export type ActivityFields = z.output<ReturnType<typeof activityChanges>>;

const pieces = (description: string) =>
  z
    .int()
    .min(0)
    .max(maxPieces)
    .default(0)
    .meta({ description, examples: [0] });
const price = (description: string) =>
  amountInput()
    .optional()
    .meta({ description, examples: [9.9] });
type PriceField = 'activity_price' | 'seckill_price' | 'group_price' | 'start_price' | 'floor_price';

const priceInputs = ({ prices, priceAlias }: ActivityKind) =>
  (prices === 'bargained'
    ? { start_price: price('above 0'), floor_price: price('above 0, at most start_price') }
    : {
        activity_price: price('above 0'),
        ...(priceAlias && { [priceAlias]: price('the same as activity_price') }),
      }) as Record<PriceField, z.ZodOptional<z.ZodNumber>>;

const rowInput = (kind: ActivityKind) =>
  z.object({
    product_id: id(),
    sku_id: idOrZero().meta({ description: '0: all SKUs of the product' }),
    ...priceInputs(kind),
    limit_per_order: pieces('pieces in one order; 0: no limit'),
    total_stock_limit: pieces('pieces in all orders; 0: no limit'),
    sort: z.int().min(-1_000_000).max(1_000_000).default(0),
  });
export const rowsBody = (kind: ActivityKind) => z.array(rowInput(kind)).max(maxActivityProducts);
export type RowInput = z.output<ReturnType<typeof rowInput>>;

const priceViews = ({ priceAlias }: Pick<ActivityKind, 'priceAlias'>) => ({
  activity_price: amount(),
  ...((priceAlias && {
    [priceAlias]: amount().meta({ description: 'the same as activity_price' }),
  }) as unknown as Record<'seckill_price' | 'group_price', z.ZodOptional<z.ZodNumber>>),
  start_price: amount(),
  floor_price: amount(),
});
const limitViews = {
  limit_per_order: z.int().meta({ description: '0: no limit' }),
  total_stock_limit: z.int().meta({ description: '0: no limit' }),
  sold_qty: z.int(),
};

export const adminRowQuery = pageQueryWith({
  activity_id: idOrZero().optional(),
  product_id: idOrZero().optional(),
  keyword: text(100)
    .trim()
    .optional()
    .meta({ description: 'a part of the title', examples: ['mug'] }),
});
export const adminRowSchema = (kind: ActivityKind) =>
  z
    .object({
      id: id(),
      activity_product_id: id().meta({ description: 'the same as id' }),
      activity_id: id(),
      activity_name: z.string().meta({ examples: ['Weekend sale'] }),
      product_id: id(),
      sku_id: idOrZero().meta({ description: '0: all SKUs of the product' }),
      ...priceViews(kind),
      ...limitViews,
      sort: z.int(),
      product_title: z.string().meta({ examples: ['Enamel mug'] }),
      product_cover: url(),
      product_price: amount(),
      sku_attrs: list(z.object({ name: z.string(), value: z.string() }), 10).meta({ description: '[] without a SKU' }),
      sku_price: amount(),
      sku_stock: z.int().meta({ description: 'sellable pieces' }),
    })
    .meta({ id: `${nameOf(kind)}ProductRow` });

export const storefrontQuery = pageQueryWith({
  activity_id: idOrZero().optional(),
  category_id: idOrZero().optional().meta({ description: 'a category with its descendants' }),
  keyword: text(100)
    .trim()
    .optional()
    .meta({ description: 'a part of the title', examples: ['mug'] }),
  min_price: amountInput().optional(),
  max_price: amountInput().optional(),
  sort_by: z.enum(['price', 'sales']).optional(),
  sort_order: z.enum(['asc', 'desc']).optional(),
});

const rowShape = (kind: Pick<ActivityKind, 'priceAlias' | 'options'>) => ({
  activity_product_id: id(),
  activity_id: id(),
  activity_type: z.enum(activityTypes),
  activity_type_label: z.string().meta({ examples: ['Flash sale'] }),
  activity_name: z.string().meta({ examples: ['Weekend sale'] }),
  activity_status: bit().meta({ description: '1: on' }),
  activity_status_label: label(),
  activity_start_at: timestamp(),
  activity_end_at: timestamp(),
  ...optionViews(kind),
  product_id: id(),
  sku_id: idOrZero().meta({ description: '0: all SKUs of the product' }),
  title: z.string().meta({ examples: ['Enamel mug'] }),
  subtitle: z.string(),
  cover: url(),
  category_id: idOrZero(),
  attrs: z
    .string()
    .meta({ description: 'JSON text; [] without a SKU', examples: ['[{"name":"Colour","value":"Cream"}]'] }),
  sales: z.int().meta({ description: 'sold pieces of the product' }),
  stock: z.int().meta({ description: 'sellable pieces of the SKU, or of all SKUs of the product' }),
  origin_price: amount().meta({ description: 'the price of the SKU, or of the product' }),
  price: amount().meta({ description: 'the activity price; the start price of a bargain' }),
  ...priceViews(kind),
  ...limitViews,
});

/** A row of the storefront: in lists, and as the answer to one id. */
export const rowSchema = (kind: ActivityKind) => z.object(rowShape(kind)).meta({ id: `${nameOf(kind)}Product` });

/** A row of any kind. */
export const anyRowSchema = z
  .object({
    ...rowShape({ options: [] }),
    ...(Object.fromEntries(activityOptions.map((name) => [name, z.number().optional()])) as OptionShape),
    seckill_price: amount().optional(),
    group_price: amount().optional(),
  })
  .meta({ id: 'ActivityProduct' });
