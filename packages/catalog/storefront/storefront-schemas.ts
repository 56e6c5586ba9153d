import { amount, id, idOrZero, pageQueryWith, timestamp, url } from '@tradepost/http';
import { z } from 'zod';
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
