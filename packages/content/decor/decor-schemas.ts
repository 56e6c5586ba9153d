import { id, lineText, list, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { maxComponents, maxComponentsText, maxFields, maxKey, maxName } from '../limits.ts';
import { normalKey } from './variant-key.ts';

const key = (example: string) =>
  lineText(maxKey)
    .meta({ examples: [example] })
    .transform(normalKey);
const variantName = () => lineText(maxName).meta({ examples: ['Summer sale'] });

export const pageParams = z.object({ page_key: key('index') });
export const variantParams = z.object({ page_key: key('index'), variant_key: key('summer') });
export const publicationParams = z.object({ page_key: key('index'), id: id() });
export const variantQuery = z.object({
  variant: key('default')
    .optional()
    .meta({ description: 'the key of a variant', examples: ['default'] }),
});

const exampleComponents = [
  { id: 'c1', type: 'banner', props: { images: [{ url: '/uploads/demo/enamel-mug.svg', link: '/products/1' }] } },
  { id: 'c2', type: 'product_grid', props: { title: 'New', limit: 8, columns: 4 } },
];

/** The content depends on the page and is checked by `readComponents`. */
export const draftBody = z.object({
  components: z
    .union([
      z.array(z.unknown()).max(maxComponents),
      z.record(z.string(), z.unknown()).meta({ maxProperties: maxFields }),
      text(maxComponentsText),
    ])
    .meta({
      description: 'pc: `{ pageStyle, components }`; other pages: the list of components; both also as JSON text',
      examples: [exampleComponents],
    }),
});
export const copyBody = z.object({
  from_variant_key: key('default'),
  new_variant_key: key('summer'),
  new_variant_name: variantName().default(''),
});
export const renameBody = z.object({ variant_name: variantName() });

const variant = {
  id: z.int().meta({ description: '0: nothing is saved', examples: [1] }),
  merchant_id: z.int().meta({ examples: [1] }),
  page_key: z.string().meta({ examples: ['index'] }),
  variant_key: z.string().meta({ examples: ['default'] }),
  variant_name: z.string().meta({ examples: ['Default'] }),
  is_published: z.boolean(),
  published_at: timestamp().nullable(),
  created_at: timestamp(),
  updated_at: timestamp(),
};
const hasChanges = z.boolean().meta({ description: 'the draft differs from the last publication of the variant' });

const components = list(z.unknown(), maxComponents).meta({ examples: [exampleComponents] });
const pcComponents = z
  .object({ pageStyle: z.record(z.string(), z.unknown()), components })
  .meta({ examples: [{ pageStyle: { content: { maxWidth: 1280 } }, components: exampleComponents }] });

export const listPageView = z.object({ ...variant, components }).meta({ id: 'DecorPage' });
export const pcPageView = z.object({ ...variant, components: pcComponents }).meta({ id: 'DecorPcPage' });
export const shopPage = z.union([listPageView, pcPageView]);

export const variantSchema = z.object({ ...variant, has_changes: hasChanges }).meta({ id: 'DecorVariant' });
export const draftSchema = z
  .object({
    ...variant,
    has_changes: hasChanges,
    components: z
      .union([z.string(), pcComponents])
      .meta({ description: 'pc: an object; other pages: a list as JSON text', examples: ['[]'] }),
  })
  .meta({ id: 'DecorDraft' });

export const publicationSchema = z
  .object({
    id: id(),
    page_key: variant.page_key,
    variant_key: variant.variant_key,
    variant_name: variant.variant_name,
    published_at: timestamp(),
    published_by_id: z.int().meta({ description: 'the administrator; 0: the command line', examples: [1] }),
    rolled_back_to: z
      .int()
      .nullable()
      .meta({ description: 'the publication whose content a rollback published again', examples: [null] }),
    is_live: z.boolean(),
  })
  .meta({ id: 'DecorPublication' });
