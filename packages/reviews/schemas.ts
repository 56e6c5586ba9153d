import { id, idOrZero, list, pagedOf, pageQueryWith, requiredText, text, url } from '@tradepost/http';
import { reviewSchema } from '@tradepost/orders';
import { z } from 'zod';
import { maxContent, maxImageAddress, maxReviewLines, maxReviewPage, maxSentImages, maxShownImages } from './limits.ts';

const score = () =>
  z
    .int()
    .min(1)
    .max(5)
    .meta({ examples: [5] });
const images = list(url(), maxShownImages);

const average = z.number().meta({ description: '0 without reviews', examples: [4.5] });
export const productReviewsSchema = z
  .object({
    summary: z.object({ avg_product_score: average, avg_logistics_score: average, total: z.int() }),
    ...pagedOf(reviewSchema, maxReviewPage).shape,
  })
  .meta({ id: 'ProductReviews' });

export const reviewMetaSchema = z
  .object({
    order_id: id(),
    order_no: z.string().meta({ examples: ['1772358600000000001'] }),
    logistics_score: score().meta({ description: 'of the first reviewed line, else 5' }),
    can_create: z.boolean().meta({ description: 'whether a line can be reviewed' }),
    can_edit: z.boolean().meta({ description: 'whether a review can be changed' }),
    can_append: z.boolean().meta({ description: 'whether a review can get an addition' }),
    options: list(
      z.object({
        order_item_id: id(),
        review_id: idOrZero().meta({ description: '0 without a review' }),
        has_review: z.boolean(),
        product_id: idOrZero(),
        product_title: z.string().meta({ examples: ['Enamel mug'] }),
        product_cover: url(),
        product_score: score(),
        logistics_score: score(),
        content: z.string(),
        images,
      }),
      maxReviewLines,
    ),
  })
  .meta({ id: 'ReviewMeta' });

export const reviewModes = ['create', 'edit', 'append'] as const;
const sentScore = () =>
  z
    .int()
    .default(5)
    .meta({ description: '1 to 5; any other number counts as 5', examples: [5] });
const content = () =>
  text(maxContent)
    .trim()
    .default('')
    .meta({ examples: ['Sturdy, and nice to hold'] });
const sentImages = () =>
  z
    .array(text(maxImageAddress))
    .max(maxSentImages)
    .default([])
    .meta({ description: 'URLs of uploads, at most 9', examples: [['/uploads/demo/enamel-mug.svg']] });

export const reviewBody = z.object({
  mode: z.enum(reviewModes).default('create'),
  logistics_score: sentScore(),
  items: z
    .array(z.object({ order_item_id: id(), product_score: sentScore(), content: content(), images: sentImages() }))
    .max(maxReviewLines)
    .default([])
    .meta({ description: 'the lines; without lines the fields below apply to all lines of the order' }),
  product_score: sentScore(),
  content: content(),
  images: sentImages(),
  append_content: content().meta({ description: 'for mode append; the same text for every line' }),
  append_images: sentImages(),
});
export type ReviewBody = z.output<typeof reviewBody>;

export const adminReviewSchema = z
  .object({
    ...reviewSchema.shape,
    product: z.object({ id: id(), title: z.string().meta({ examples: ['Enamel mug'] }), cover: url() }),
    order_item: z.object({
      id: id(),
      title: z.string().meta({ description: 'as the buyer saw it', examples: ['Enamel mug'] }),
      cover: url(),
      attrs: z.string().meta({ description: 'JSON text', examples: ['[{"name":"Colour","value":"Cream"}]'] }),
    }),
  })
  .meta({ id: 'AdminReview' });

export const replyStatuses = ['pending', 'replied'] as const;
export const adminReviewQuery = pageQueryWith({
  keyword: text(100)
    .trim()
    .optional()
    .meta({ description: 'part of the text of the review', examples: ['sturdy'] }),
  product_id: idOrZero().optional().meta({ description: '0 means all products' }),
  reply_status: z.enum(replyStatuses).optional().meta({ description: 'pending: without a reply' }),
});
export const replyBody = z.object({
  content: requiredText(maxContent).meta({ examples: ['Thank you'] }),
});
