import { nicknameHolds, shoppersByNickname, shoppersByReceiver } from '@tradepost/identity';
import { plannedByValue, type Queryable, type Statement } from '@tradepost/postgres';

/** A keyword, prepared for the search in order ids, order numbers, nicknames, receivers and sold titles. */
export type Keyword = {
  /** Lower-cased. */
  text: string;
  order_id: number | null;
  /** The first and the last order number that begin with the keyword. */
  order_no: readonly [string, string];
  /** Many orders match. The search then reads the newest orders until the page is full. */
  common: boolean;
};

/**
 * From this number of candidates on a keyword is `common`. In a shop of a million orders, reading so many candidates costs as
 * much as reading the newest orders up to the twentieth match.
 */
const manyOrders = 5_000;
const orderNoDigits = 19;
/** A range that matches no order number. */
const noOrderNo = ['1', '0'] as const;

const soldGoods = (sql: Queryable, text: string): Statement => sql`
  (select distinct product_id from orders.sold_titles
   where runtime.grams(title) @> runtime.grams_sought(${text}) and position(${text} in lower(title)) > 0)`;

const receiverHolds = (sql: Queryable, order: Statement, text: string): Statement => sql`
  (position(${text} in lower(${order}.address_snapshot ->> 'name')) > 0
   or position(${text} in ${order}.address_snapshot ->> 'phone') > 0)`;

/** Orders of an older shop: their number, shopper, receiver and titles. They may have no account and no products. */
const importedOrders = (sql: Queryable, text: string): Statement => sql`
  (select order_id from orders.imported_orders
   where runtime.grams(search) @> runtime.grams_sought(${text}) and position(${text} in search) > 0)`;

/** Whether at least `manyOrders` lines or orders are candidates. The count stops at that number. */
async function isCommon(sql: Queryable, text: string): Promise<boolean> {
  const counts = await Promise.all([
    plannedByValue(sql<{ n: number }[]>`
      select count(*)::int as n from (
        select 1 from ${soldGoods(sql, text)} as g join orders.order_items i using (product_id) limit ${manyOrders}) as lines`),
    plannedByValue(sql<{ n: number }[]>`
      select count(*)::int as n from (
        select 1 from (select user_id from ${shoppersByNickname(sql, text)} as a
                       union all select user_id from ${shoppersByReceiver(sql, text)} as b) as u
        join orders.orders o using (user_id) limit ${manyOrders}) as placed`),
    plannedByValue(sql<{ n: number }[]>`
      select count(*)::int as n from (select 1 from ${importedOrders(sql, text)} as m limit ${manyOrders}) as found`),
  ]);
  return counts.some(([row]) => row!.n >= manyOrders);
}

export async function resolveKeyword(sql: Queryable, keyword: string): Promise<Keyword> {
  const text = keyword.toLowerCase();
  const digits = /^\d{1,19}$/.test(keyword);
  return {
    text,
    order_id: digits && Number.isSafeInteger(Number(keyword)) ? Number(keyword) : null,
    order_no: digits ? [keyword, keyword.padEnd(orderNoDigits, '9')] : noOrderNo,
    common: await isCommon(sql, text),
  };
}

/** The condition for a rare keyword: the set of candidates is read first, so few orders are read. */
function fromCandidates(sql: Queryable, { text, order_id, order_no }: Keyword) {
  return sql`
    and o.id in (
      select ${order_id}::bigint
      union all
      select n.id from orders.orders n where n.order_no between ${order_no[0]} and ${order_no[1]}
      union all
      select u.id from ${shoppersByNickname(sql, text)} as s join orders.orders u using (user_id)
      union all
      select r.id from ${shoppersByReceiver(sql, text)} as s join orders.orders r using (user_id)
      where ${receiverHolds(sql, sql`r`, text)}
      union all
      select i.order_id from ${soldGoods(sql, text)} as g join orders.order_items i using (product_id)
      where position(${text} in lower(i.title)) > 0
      union all
      select order_id from ${importedOrders(sql, text)} as m)`;
}

/**
 * The condition for a common keyword: each order is checked, newest first. It has no `exists`, because the planner would then
 * read the lines of all matching goods.
 */
function perOrder(sql: Queryable, { text, order_id, order_no }: Keyword) {
  return sql`
    and (o.id = ${order_id}::bigint
      or o.order_no between ${order_no[0]} and ${order_no[1]}
      or ${receiverHolds(sql, sql`o`, text)}
      or ${nicknameHolds(sql, sql`o.user_id`, text)}
      or (select true from orders.order_items i where i.order_id = o.id and position(${text} in lower(i.title)) > 0 limit 1)
      or (select position(${text} in m.search) > 0 from orders.imported_orders m where m.order_id = o.id))`;
}

/** An SQL condition on `orders.orders o`, beginning with `and`. */
export const keywordCondition = (sql: Queryable, keyword: Keyword) =>
  keyword.common ? perOrder(sql, keyword) : fromCandidates(sql, keyword);
