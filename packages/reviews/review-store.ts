import type { Queryable } from '@tradepost/postgres';
import { maxReviewAppends } from './limits.ts';
import type { Review } from './review.ts';

/** The columns of a review `r` with its additions and its reply. `u` is its author in identity.shopper_names. */
export const reviewColumns = (sql: Queryable) => sql`
  r.id, r.order_id, r.order_item_id, r.order_no, r.product_id, r.user_id, r.merchant_id, r.product_score,
  r.logistics_score, r.content, r.images, r.edited_times, r.created_at, r.updated_at,
  coalesce(u.nickname, '') as user_nickname, coalesce(u.avatar, '') as user_avatar,
  (select coalesce(jsonb_agg(to_jsonb(a) order by a.id), '[]')
   from (select * from reviews.review_appends where review_id = r.id order by id limit ${maxReviewAppends}) as a)
    as appends,
  (select to_jsonb(p) from reviews.review_replies as p where p.review_id = r.id) as admin_reply`;

/** The reviews of these order lines. */
export async function selectReviewsOfItems(sql: Queryable, orderItemIds: readonly number[]): Promise<Review[]> {
  return sql<Review[]>`
    select ${reviewColumns(sql)}
    from reviews.reviews r left join identity.shopper_names u on u.id = r.user_id
    where r.order_item_id = any(${[...orderItemIds]}::bigint[])`;
}
