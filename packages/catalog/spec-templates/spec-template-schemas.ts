import { id, idOrZero, list, pageQueryWith, requiredText, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxSpecs, maxSpecValues, maxTemplateCategories } from '../limits.ts';

const name = () => requiredText(64).meta({ examples: ['Clothing'] });
const status = z
  .int()
  .min(0)
  .max(1)
  .meta({ examples: [1] });
const fields = {
  category_ids: z.array(id()).max(maxTemplateCategories).optional(),
  attrs: z
    .array(z.object({ name: requiredText(64), values: z.array(text(128)).max(maxSpecValues) }))
    .max(maxSpecs)
    .meta({ examples: [[{ name: 'Size', values: ['S', 'M', 'L'] }]] })
    .optional(),
  status: status.optional(),
};
export const specTemplateCreateBody = z.object({ name: name(), ...fields });
/** Absent fields stay unchanged. */
export const specTemplateUpdateBody = z.object({ name: name().optional(), ...fields });

export const specTemplateQuery = pageQueryWith({
  keyword: text(100).optional(),
  status: status.optional(),
  category_id: idOrZero().optional().meta({ description: 'templates that list this category' }),
});

export const specTemplateView = z
  .object({
    id: id(),
    name: z.string().meta({ examples: ['Clothing'] }),
    category_ids: list(id(), maxTemplateCategories),
    attrs: list(z.object({ name: z.string(), values: list(z.string(), maxSpecValues) }), maxSpecs),
    status: z.int(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'SpecTemplate' });
