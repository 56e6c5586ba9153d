import type { Paging } from '@tradepost/core';
import { countedPage, plannedByValue, type Queryable, type Statement, type Transaction } from '@tradepost/postgres';
import { commonKeyword, searchedReviews } from '../limits.ts';
import type { Review } from '../review.ts';
import { reviewColumns } from '../review-store.ts';
import type { replyStatuses } from '../schemas.ts';

export type ReviewFilter = {
  /** Lower-cased. */
  keyword: string | null;
  product_id: number | null;
  reply_status: (typeof replyStatuses)[number] | null;
};

/** The condition that the index of the texts can answer. */
const holds = (sql: Queryable, keyword: string): Statement =>
  sql`runtime.grams(r.content) @> runtime.grams_sought(${keyword}) and position(${keyword} in lower(r.content)) > 0`;

/** Whether so many reviews have the keyword that reading them all takes too long. The count stops at that number. */
async function isCommon(sql: Queryable, keyword: string): Promise<boolean> {
  const [row] = await plannedByValue(sql<{ n: number }[]>`
    select count(*)::int as n
    from (select 1 from reviews.reviews r where ${holds(sql, keyword)} limit ${commonKeyword}) as hits`);
  return row!.n >= commonKeyword;
}

const ofProduct = (sql: Queryable, { product_id }: ReviewFilter): Statement =>
  product_id === null ? sql`` : sql`and r.product_id = ${product_id}`;

function withReplyStatus(sql: Queryable, { reply_status }: ReviewFilter): Statement {
  if (reply_status === null) return sql``;
  const replied = sql`exists (select from reviews.review_replies p where p.review_id = r.id)`;
  return reply_status === 'replied' ? sql`and ${replied}` : sql`and not ${replied}`;
}

/** The reviews that match the filter. With a common keyword only the newest reviews are searched. */
function matching(sql: Queryable, filter: ReviewFilter, common: boolean): Statement {
  const { keyword } = filter;
  if (keyword !== null && common)
    return sql`
      from (select id, content from reviews.reviews r where true ${ofProduct(sql, filter)}
            order by id desc limit ${searchedReviews}) as r
      where position(${keyword} in lower(r.content)) > 0 ${withReplyStatus(sql, filter)}`;
  return sql`
    from reviews.reviews r
    where ${keyword === null ? sql`true` : holds(sql, keyword)} ${ofProduct(sql, filter)} ${withReplyStatus(sql, filter)}`;
}

/** A page of the reviews of all products, newest first. */
export async function selectReviews(
  sql: Queryable,
  filter: ReviewFilter,
  paging: Paging,
): Promise<{ rows: Review[]; total: number }> {
  const common = filter.keyword !== null && (await isCommon(sql, filter.keyword));
  const found = matching(sql, filter, common);
  const rows = await plannedByValue(sql<(Review & { total_found: number })[]>`
    with counted as (select count(*)::int as total_found ${found}),
    page as (select r.id ${found} order by r.id desc limit ${paging.size} offset ${paging.offset})
    select counted.total_found, ${reviewColumns(sql)}
    from counted left join (page join reviews.reviews r using (id)) on true
    left join identity.shopper_names u on u.id = r.user_id
    order by r.id desc`);
  return countedPage<Review>(rows);
}

export async function selectReviewsById(sql: Queryable, ids: readonly number[]): Promise<Review[]> {
  return sql<Review[]>`
    select ${reviewColumns(sql)}
    from reviews.reviews r left join identity.shopper_names u on u.id = r.user_id
    where r.id = any(${[...ids]}::bigint[]) order by r.id desc`;
}

export type Reply = { review_id: number; admin_id: number; content: string };

/** Writes or replaces the replies of the shop. Returns the ids of the reviews that exist. */
export async function upsertReplies(tx: Transaction, replies: readonly Reply[], now: Date): Promise<number[]> {
  const rows = await tx<{ review_id: number }[]>`
    insert into reviews.review_replies as p (review_id, admin_id, content, created_at, updated_at)
    select r.id, n.admin_id, n.content, ${now}, ${now}
    from json_to_recordset(${JSON.stringify(replies)}::text::json) as n (review_id bigint, admin_id bigint, content text)
    join reviews.reviews r on r.id = n.review_id
    order by r.id
    on conflict (review_id) do update set admin_id = excluded.admin_id, content = excluded.content,
      updated_at = excluded.updated_at
    returning review_id`;
  return rows.map((row) => row.review_id);
}
