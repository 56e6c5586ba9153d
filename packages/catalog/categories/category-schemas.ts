import { id, idOrZero, list, requiredText, text, timestamp, zeroWhenEmpty } from '@tradepost/http';
import { z } from 'zod';
import { maxCategories } from '../limits.ts';

const categoryName = () => requiredText(64).meta({ examples: ['Mugs'] });
const translated = z.object({
  name: text(64).optional(),
  outdated: z
    .array(z.literal('name'))
    .max(1)
    .optional()
    .meta({ description: 'the name in the shop’s language has changed since' }),
});
const translations = z
  .object({ en: translated.optional(), 'zh-CN': translated.optional() })
  .meta({ examples: [{ 'zh-CN': { name: '马克杯' } }] });
const icon = text(1000).meta({ examples: ['/uploads/demo/icon-kitchen.svg'] });
const sort = z
  .int()
  .min(-1_000_000)
  .max(1_000_000)
  .meta({ examples: [10] });
const status = z
  .int()
  .min(0)
  .max(1)
  .meta({ examples: [1] });

const fields = {
  parent_id: zeroWhenEmpty(idOrZero().optional()),
  icon: icon.optional(),
  sort: zeroWhenEmpty(sort.optional()),
  status: status.optional(),
  translations: translations.optional(),
};
export const categoryCreateBody = z.object({ name: categoryName(), ...fields });
/** Absent fields stay unchanged. */
export const categoryUpdateBody = z.object({ name: categoryName().optional(), ...fields });

export const categoryView = z
  .object({
    id: id(),
    parent_id: idOrZero(),
    name: z.string().meta({ examples: ['Mugs'] }),
    icon: z.string().meta({ examples: ['http://127.0.0.1:8080/uploads/demo/icon-kitchen.svg'] }),
    sort: z.int(),
    status: z.int(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Category' });

const productCount = z.int().meta({ description: 'products in the category and below it, of any status' });
export const adminCategoryView = z
  .object({ ...categoryView.shape, translations, product_count: productCount })
  .meta({ id: 'AdminCategory' });

const branch = {
  id: id(),
  parent_id: idOrZero(),
  name: z.string(),
  icon: z.string(),
  sort: z.int(),
  status: z.int(),
  product_count: productCount,
};
const leaf = z.object({ ...branch, children: list(z.never(), 0) }).meta({ id: 'CategoryLeaf' });
const middle = z.object({ ...branch, children: list(leaf, maxCategories) }).meta({ id: 'CategoryBranch' });
export const categoryTreeView = list(z.object({ ...branch, children: list(middle, maxCategories) }), maxCategories);
