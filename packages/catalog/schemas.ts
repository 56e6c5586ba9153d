import {
  amount,
  amountInput,
  id,
  idOrZero,
  isStorable,
  list,
  pageQueryWith,
  requiredText,
  text,
  timestamp,
  url,
  zeroWhenEmpty,
} from '@tradepost/http';
import { z } from 'zod';
import {
  maxBlocks,
  maxCombinations,
  maxDetail,
  maxImages,
  maxProperties,
  maxSkus,
  maxSpecs,
  maxSpecValues,
  maxWord,
} from './limits.ts';

const maxStock = 100_000_000;
export const lowStock = 10;

/** `word` is the schema of a block's id and type. `most` is the largest number of blocks. */
const detailOf = (word: z.ZodString, most = maxBlocks) =>
  z.object({
    version: z.literal(1),
    blocks: list(
      z.object({
        id: word.default(''),
        type: word,
        props: z.record(z.string(), z.unknown()).meta({ maxProperties }).default({}),
      }),
      most,
    ),
  });
const detail = detailOf(z.string());
const anyDetail = detailOf(z.string(), Number.MAX_SAFE_INTEGER);
const tooLong = { error: `must be at most ${maxDetail} characters of JSON` };
// Refuses values that cannot be stored, for example because they are nested too deeply.
const fits = (value: unknown) => !isStorable(value) || JSON.stringify(value).length <= maxDetail;
const storable = { error: 'must not contain NUL, broken Unicode or more than 64 levels' };
/** A blank or invalid detail means no detail. Clients send an object or its JSON text. */
const detailInput = z
  .unknown()
  .transform((value) => {
    let parsed: unknown = value;
    if (typeof value === 'string') {
      try {
        parsed = JSON.parse(value);
      } catch {
        parsed = null;
      }
    }
    // Too many blocks are refused as too long. They do not count as an invalid page.
    const checked = anyDetail.safeParse(parsed);
    return checked.success ? checked.data : { version: 1 as const, blocks: [] };
  })
  .refine((value) => isStorable(value), storable)
  .refine(fits, tooLong)
  .meta({ description: 'Page content: an object or its JSON text', examples: [{ version: 1, blocks: [] }] });

/** A translation for each group and each value. */
const maxWords = maxSpecs * (maxSpecValues + 1);
const texts = z.object({
  title: text(200).optional(),
  subtitle: text(400).optional(),
  detail: detailOf(z.string().max(maxWord))
    .refine((value) => isStorable(value), storable)
    .refine(fits, tooLong)
    .optional(),
  specs: z
    .record(text(128), text(128))
    .refine((words) => Object.keys(words).length <= maxWords, { error: `must be at most ${maxWords} words` })
    .meta({ maxProperties: maxWords })
    .optional(),
  outdated: z
    .array(z.enum(['title', 'subtitle', 'detail']))
    .max(3)
    .optional()
    .meta({
      description: 'fields whose text in the shop’s language has changed since; send [] to remove the marks',
    }),
});
const translations = z
  .object({ en: texts.optional(), 'zh-CN': texts.optional() })
  .meta({ examples: [{ 'zh-CN': { title: '搪瓷杯', subtitle: '', specs: { Colour: '颜色', Cream: '米白' } } }] });

const title = () => requiredText(200).meta({ examples: ['Enamel mug'] });
const stock = () =>
  z
    .int()
    .min(0)
    .max(maxStock)
    .meta({ examples: [120] });
const specSchema = z
  .array(z.object({ name: requiredText(64), values: z.array(text(128)).max(maxSpecValues) }))
  .max(maxSpecs)
  .meta({ examples: [[{ name: 'Colour', values: ['Cream', 'Navy'] }]] });
const skuOverrides = z
  .array(
    z.object({
      sku_key: requiredText(1000),
      sku_code: text(64).optional(),
      price: amountInput().optional(),
      stock: stock().optional(),
    }),
  )
  .max(maxCombinations)
  .meta({ examples: [[{ sku_key: 'Colour:Cream', sku_code: 'MUG-C', price: 12.9, stock: 40 }]] });
const images = z
  .array(z.object({ url: requiredText(1000), sort: z.int().min(0).max(1_000_000).optional() }))
  .max(maxImages)
  .meta({ examples: [[{ url: '/uploads/demo/enamel-mug-2.svg', sort: 0 }]] });

const productFields = {
  subtitle: text(400)
    .optional()
    .meta({ examples: ['Light, unbreakable, dishwasher-safe'] }),
  origin_price: zeroWhenEmpty(
    amountInput()
      .optional()
      .meta({ examples: [15.9] }),
  ),
  stock: stock().optional(),
  category_id: zeroWhenEmpty(
    idOrZero()
      .optional()
      .meta({ examples: [0] }),
  ),
  cover: text(1000)
    .optional()
    .meta({ examples: ['/uploads/demo/enamel-mug.svg'] }),
  status: z
    .int()
    .min(0)
    .max(1)
    .optional()
    .meta({ examples: [1] }),
  sort: z.int().min(-1_000_000).max(1_000_000).optional(),
  detail: detailInput.optional(),
  translations: translations.optional(),
};
const parts = {
  images: images.optional(),
  sku_generation_mode: z.literal('auto').optional(),
  spec_schema: specSchema.optional(),
  sku_overrides: skuOverrides.optional(),
};
export const productCreateBody = z.object({
  product: z.object({ title: title(), price: amountInput(), ...productFields }),
  ...parts,
});
/** Absent parts stay unchanged. */
export const productUpdateBody = z.object({
  product: z.object({ title: title().optional(), price: amountInput().optional(), ...productFields }).optional(),
  ...parts,
});

const skuDiff = z.object({ added: z.int(), kept: z.int(), inactivated: z.int() });
export const productCreated = z.object({
  id: id(),
  product: z.object({ id: id(), title: z.string() }),
  sku_diff: skuDiff,
});
export const productUpdated = z.object({ sku_diff: skuDiff });

const cardShape = {
  id: id(),
  merchant_id: id(),
  category_id: idOrZero(),
  title: z.string().meta({ examples: ['Enamel mug'] }),
  subtitle: z.string().meta({ examples: ['Light, unbreakable, dishwasher-safe'] }),
  cover: url(),
  price: amount(),
  origin_price: amount().meta({ description: '0 = not set', examples: [15.9] }),
  stock: z.int().meta({ description: 'sellable quantity of all SKUs', examples: [120] }),
  sales: z.int().meta({ examples: [31] }),
  favorite_count: z.int(),
  status: z.int(),
  sort: z.int(),
  detail,
  is_favorited: z.boolean(),
  created_at: timestamp(),
  updated_at: timestamp(),
};
export const productCardView = z.object(cardShape).meta({ id: 'ProductCard' });

export const skuViewSchema = z
  .object({
    id: id(),
    product_id: id(),
    attrs: z.string().meta({ description: 'JSON text', examples: ['[{"name":"Colour","value":"Cream"}]'] }),
    price: amount(),
    stock: z.int().meta({ description: 'sellable quantity', examples: [40] }),
    sku_code: z.string().meta({ examples: ['MUG-C'] }),
    sku_key: z.string().meta({ examples: ['Colour:Cream'] }),
    status: z.enum(['active', 'inactive']),
  })
  .meta({ id: 'Sku' });

export const productDetailView = z
  .object({
    ...cardShape,
    skus: list(skuViewSchema, maxCombinations),
    images: list(z.object({ id: id(), product_id: id(), url: url(), sort: z.int() }), maxImages),
    review_summary: z
      .object({ avg_product_score: z.number(), avg_logistics_score: z.number(), total: z.int() })
      .optional()
      .meta({ description: 'filled by the package reviews; averages are 0 without reviews' }),
  })
  .meta({ id: 'ProductDetail' });

const inBranch = () =>
  idOrZero().optional().meta({ description: 'a category with its descendants; 0 means all products' });
export const storefrontQuery = pageQueryWith({
  keyword: text(100)
    .optional()
    .meta({ examples: ['mug'] }),
  category_id: inBranch(),
});
export const adminQuery = pageQueryWith({
  keyword: text(100)
    .optional()
    .meta({ examples: ['mug'] }),
  category_id: inBranch(),
  status: z.int().min(0).max(1).optional(),
  low_stock: z
    .boolean()
    .optional()
    .meta({ description: `at most ${lowStock} sellable pieces` }),
  sort_by: z.enum(['sales', 'stock', 'price_asc', 'price_desc', 'created']).optional(),
});

export const adminProductView = z
  .object({
    id: id(),
    title: z.string().meta({ examples: ['Enamel mug'] }),
    cover: url(),
    price: amount(),
    stock: z.int().meta({ description: 'sellable quantity' }),
    favorite_count: z.int(),
    status: z.int(),
    category_id: idOrZero(),
    category_path_name: z.string().meta({ examples: ['Kitchen / Mugs'] }),
    sales_count: z.int(),
    sales: z.int(),
    created_at: timestamp(),
  })
  .meta({ id: 'AdminProduct' });

export const adminProductDetailView = z
  .object({
    id: id(),
    title: z.string().meta({ examples: ['Enamel mug'] }),
    subtitle: z.string(),
    cover: url(),
    price: amount(),
    origin_price: amount(),
    stock: z.int().meta({ description: 'on hand, sum of the active SKUs' }),
    category_id: idOrZero(),
    category_path_name: z.string(),
    status: z.int(),
    sort: z.int(),
    detail,
    translations,
    merchant_id: id(),
    sales: z.int(),
    favorite_count: z.int(),
    is_favorited: z.boolean(),
    images: list(z.object({ id: id(), product_id: id(), url: url(), sort: z.int() }), maxImages),
    spec_schema: list(z.object({ name: z.string(), values: list(z.string(), maxSpecValues) }), maxSpecs),
    skus: list(
      z.object({
        id: id(),
        product_id: id(),
        sku_key: z.string().meta({ examples: ['Colour:Cream'] }),
        sku_code: z.string(),
        attrs: list(z.object({ name: z.string(), value: z.string() }), maxSpecs),
        price: amount(),
        stock: z.int().meta({ description: 'on hand' }),
        reserved_stock: z.int().meta({ description: 'the part of stock that is reserved for open orders' }),
        status: z.enum(['active', 'inactive']),
      }),
      maxSkus,
    ),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'AdminProductDetail' });
