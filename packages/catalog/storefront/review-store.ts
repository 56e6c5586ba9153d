import type { Paging } from '@tradepost/core';
import type { Sql } from '@tradepost/postgres';
import { maxReviewAppends } from '../limits.ts';

type Written = { id: number; review_id: number; content: string; created_at: string; updated_at: string };
/** A root review with its replies and additions. Times inside the aggregates are ISO texts. */
export type Review = {
  id: number;
  order_id: number;
  order_item_id: number;
  order_no: string;
  product_id: number;
  user_id: number;
  merchant_id: number;
  product_score: number;
  logistics_score: number;
  content: string;
  images: string[];
  edited_times: number;
  created_at: Date;
  updated_at: Date;
  user_nickname: string;
  user_avatar: string;
  appends: (Written & { user_id: number; images: string[] })[];
  admin_reply: (Written & { admin_id: number }) | null;
};
type ReviewSummary = { avg_product_score: number; avg_logistics_score: number; total: number };
export type ProductReviews = { summary: ReviewSummary; rows: Review[] };

/**
 * One page of a product's reviews, newest first, with averages over all reviews. Undefined when the product is not on
 * the shelf.
 */
export async function selectReviews(sql: Sql, productId: number, paging: Paging): Promise<ProductReviews | undefined> {
  const rows = await sql<(Review & ReviewSummary)[]>`
    with shelf as (
      select id from catalog.products where id = ${productId} and status = 1
    ), summary as (
      select coalesce(round(avg(product_score), 2), 0)::float8 as avg_product_score,
             coalesce(round(avg(logistics_score), 2), 0)::float8 as avg_logistics_score, count(*)::int as total
      from catalog.reviews where product_id = ${productId}
    ), page as (
      select * from catalog.reviews where product_id = ${productId}
      order by id desc limit ${paging.size} offset ${paging.offset}
    )
    select summary.*, page.*, coalesce(u.nickname, '') as user_nickname, coalesce(u.avatar, '') as user_avatar,
      (select coalesce(jsonb_agg(to_jsonb(a) order by a.id), '[]')
       from (select * from catalog.review_appends where review_id = page.id order by id limit ${maxReviewAppends}) a)
        as appends,
      (select to_jsonb(r) from catalog.review_replies r where r.review_id = page.id) as admin_reply
    from shelf cross join summary left join page on true left join identity.shopper_names u on u.id = page.user_id
    order by page.id desc`;
  const [first] = rows;
  if (!first) return undefined;
  const { avg_product_score, avg_logistics_score, total } = first;
  return { summary: { avg_product_score, avg_logistics_score, total }, rows: rows.filter((row) => row.id !== null) };
}
