import type { Paging } from '@tradepost/core';
import type { Queryable } from '@tradepost/postgres';
import type { Review, ReviewSummary } from '../review.ts';
import { reviewColumns } from '../review-store.ts';

/** SQL for the summary of a product as jsonb. `productId` is an SQL expression. */
export const summaryOf = (productId: string): string => `
  coalesce(
    (select jsonb_build_object('avg_product_score', round(s.product_score_sum::numeric / s.total, 2),
                               'avg_logistics_score', round(s.logistics_score_sum::numeric / s.total, 2), 'total', s.total)
     from reviews.product_summaries as s where s.product_id = ${productId}),
    '{"avg_product_score": 0, "avg_logistics_score": 0, "total": 0}')`;

/** One page of the reviews of a product, newest first, with its summary. */
export async function selectProductReviews(
  sql: Queryable,
  productId: number,
  paging: Paging,
): Promise<{ summary: ReviewSummary; rows: Review[] }> {
  const rows = await sql<(Review & { summary: ReviewSummary })[]>`
    with page as (
      select id from reviews.reviews where product_id = ${productId}
      order by id desc limit ${paging.size} offset ${paging.offset}
    )
    select one.summary, ${reviewColumns(sql)}
    from (select ${sql.unsafe(summaryOf('wanted.id'))} as summary from (select ${productId}::bigint as id) as wanted) as one
    left join (page join reviews.reviews r using (id)) on true
    left join identity.shopper_names u on u.id = r.user_id
    order by r.id desc`;
  return {
    summary: rows[0]!.summary,
    rows: rows.filter((row) => row.id !== null).map(({ summary: _summary, ...row }) => row),
  };
}
