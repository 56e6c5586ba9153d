import { amount, id, idOrZero, list, pageQueryWith, timestamp, url } from '@tradepost/http';
import { z } from 'zod';
import { maxReviewAppends, maxReviewImages } from '../limits.ts';
import { productCardView } from '../schemas.ts';

export const favoriteView = z
  .object({ ...productCardView.shape, favorited_at: timestamp() })
  .meta({ id: 'FavoriteProduct' });
export const pageQuery = pageQueryWith({});

/** The largest number of recommended products in one answer. */
export const recommendPage = 50;
export const recommendQuery = z.object({
  limit: z
    .int()
    .optional()
    .meta({ description: `default 8, at most ${recommendPage}`, examples: [8] }),
});
export const recommendedView = z
  .object({
    id: id(),
    product_id: id().meta({ description: 'the same as id' }),
    category_id: idOrZero(),
    title: z.string(),
    subtitle: z.string(),
    cover: url(),
    price: amount(),
    origin_price: amount().meta({ description: '0 = not set' }),
    stock: z.int(),
    sales: z.int(),
    favorite_count: z.int(),
  })
  .meta({ id: 'RecommendedProduct' });

const images = list(url(), maxReviewImages);
const written = { id: id(), review_id: id(), content: z.string(), created_at: timestamp(), updated_at: timestamp() };
const score = z
  .int()
  .min(1)
  .max(5)
  .meta({ examples: [5] });
const reviewView = z
  .object({
    id: id(),
    order_id: id(),
    order_item_id: id(),
    order_no: z
      .string()
      .meta({ description: 'masked in the middle, because reviews are public', examples: ['1767****0001'] }),
    product_id: id(),
    user_id: id(),
    merchant_id: id(),
    product_score: score,
    logistics_score: score,
    content: z.string(),
    images,
    edited_times: z.int(),
    created_at: timestamp(),
    updated_at: timestamp(),
    user_nickname: z.string(),
    user_avatar: z.string(),
    appends: list(z.object({ ...written, user_id: id(), images }), maxReviewAppends),
    admin_reply: z.object({ ...written, admin_id: id() }).nullable(),
  })
  .meta({ id: 'Review' });

const average = z.number().meta({ description: '0 without reviews', examples: [4.5] });
/** Reviews on one page. */
export const reviewPage = 50;
export const productReviewsView = z
  .object({
    summary: z.object({ avg_product_score: average, avg_logistics_score: average, total: z.int() }),
    list: list(reviewView, reviewPage),
    total: z.int(),
    page: z.int(),
    size: z.int(),
  })
  .meta({ id: 'ProductReviews' });
