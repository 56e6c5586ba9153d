import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import type { Review } from '../review.ts';

/** The review of an order line, with the number of its additions. */
export type LineReview = Pick<
  Review,
  'id' | 'order_item_id' | 'product_score' | 'logistics_score' | 'content' | 'images'
> & { appends: number };

/** The reviews of the lines of these orders. */
export async function selectLineReviews(sql: Queryable, orderIds: readonly number[]): Promise<LineReview[]> {
  return sql<LineReview[]>`
    select r.id, r.order_item_id, r.product_score, r.logistics_score, r.content, r.images,
      (select count(*)::int from reviews.review_appends a where a.review_id = r.id) as appends
    from reviews.reviews r where r.order_id = any(${[...orderIds]}::bigint[])`;
}

/**
 * Adds the rows of the CTE `changes` to the summaries of their products. Rows are written in product order, so that two
 * writers do not deadlock. A writer that waits for the row of a product adds to the committed sums.
 */
const addToSummaries = (tx: Transaction): Statement => tx`
  insert into reviews.product_summaries as s (product_id, total, product_score_sum, logistics_score_sum)
  select product_id, sum(total), sum(product_score), sum(logistics_score) from changes
  group by product_id order by product_id
  on conflict (product_id) do update set
    total = s.total + excluded.total,
    product_score_sum = s.product_score_sum + excluded.product_score_sum,
    logistics_score_sum = s.logistics_score_sum + excluded.logistics_score_sum`;

export type NewReview = Pick<
  Review,
  | 'order_id'
  | 'order_item_id'
  | 'order_no'
  | 'product_id'
  | 'user_id'
  | 'merchant_id'
  | 'product_score'
  | 'logistics_score'
  | 'content'
> & { images: readonly string[] };

/**
 * Inserts reviews and adds them to the summaries of their products. The caller has locked the orders. Returns the ids by the lines
 * of the orders.
 */
export async function insertReviews(
  tx: Transaction,
  rows: readonly NewReview[],
  now: Date,
): Promise<Map<number, number>> {
  const inserted = await tx<{ id: number; order_item_id: number }[]>`
    with changes as (
      insert into reviews.reviews (order_id, order_item_id, order_no, product_id, user_id, merchant_id, product_score,
        logistics_score, content, images, created_at, updated_at)
      select order_id, order_item_id, order_no, product_id, user_id, merchant_id, product_score, logistics_score, content,
        images, ${now}, ${now}
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as n (order_id bigint, order_item_id bigint, order_no text,
        product_id bigint, user_id bigint, merchant_id bigint, product_score smallint, logistics_score smallint,
        content text, images jsonb)
      returning id, order_item_id, product_id, product_score, logistics_score, 1 as total
    ), summed as (${addToSummaries(tx)})
    select id, order_item_id from changes`;
  return new Map(inserted.map(({ id, order_item_id }) => [order_item_id, id]));
}

export type ChangedReview = { id: number } & Pick<
  NewReview,
  'product_score' | 'logistics_score' | 'content' | 'images'
>;

/** Replaces reviews and corrects the summaries of their products. The caller has locked the orders. */
export async function updateReviews(tx: Transaction, rows: readonly ChangedReview[], now: Date): Promise<void> {
  await tx`
    with given as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as g (id bigint, product_score smallint,
        logistics_score smallint, content text, images jsonb)
    ), replaced as (
      update reviews.reviews r
      set product_score = g.product_score, logistics_score = g.logistics_score, content = g.content, images = g.images,
          edited_times = r.edited_times + 1, updated_at = ${now}
      from given g where r.id = g.id
    ), changes as (
      -- the scores before the update: all parts of a statement read the same snapshot
      select r.product_id, 0 as total, g.product_score - r.product_score as product_score,
             g.logistics_score - r.logistics_score as logistics_score
      from reviews.reviews r join given g using (id)
    )
    ${addToSummaries(tx)}`;
}

/** Adds the same text and pictures to each of these reviews. */
export async function insertAppends(
  tx: Transaction,
  reviewIds: readonly number[],
  append: { user_id: number; content: string; images: readonly string[]; now: Date },
): Promise<void> {
  await tx`
    insert into reviews.review_appends (review_id, user_id, content, images, created_at, updated_at)
    select id, ${append.user_id}, ${append.content}, ${tx.json([...append.images])}, ${append.now}, ${append.now}
    from unnest(${[...reviewIds]}::bigint[]) as root (id) order by id`;
}
