import { type ShopperMatch, selectShoppersByText } from '@tradepost/identity';
import type { Queryable } from '@tradepost/runtime';

/** What a keyword can mean: an order's id or number, shoppers, receivers, goods. */
export type KeywordHits = {
  text: string;
  order_id: number | null;
  /** First and last order number that begin with it. */
  order_no: readonly [string, string] | null;
  /** Any order of theirs. */
  user_ids: number[];
  /** Their orders whose receiver holds the text. */
  receiver_user_ids: number[];
  product_ids: number[];
  /** Orders of these shoppers and goods, an order counted once for each; counted up to 20,000 of both. */
  candidates: number;
};

/** Beyond so many orders the newest first are walked: among so many hits a page is soon full. */
export const enoughCandidates = 2_000;
/** How far candidates are counted, for a total. */
const countedCandidates = 20_000;
const maxShoppers = 2_000;
const maxProducts = 2_000;
const orderNoDigits = 19;

const idsOf = (matches: readonly ShopperMatch[], by: ShopperMatch['by']) =>
  matches.filter((match) => match.by === by).map((match) => match.user_id);

/** Looks the keyword up in what orders are known by. Two rounds of small index scans. */
export async function resolveKeyword(sql: Queryable, keyword: string): Promise<KeywordHits> {
  const digits = /^\d{1,19}$/.test(keyword);
  const part = keyword.toLowerCase();
  const [shoppers, products] = await Promise.all([
    selectShoppersByText(sql, keyword, maxShoppers),
    sql<{ product_id: number }[]>`
      select distinct product_id from orders.sold_titles
      where runtime.grams(title) @> runtime.grams_sought(${part}) and position(${part} in lower(title)) > 0
      limit ${maxProducts}`,
  ]);
  const product_ids = products.map((row) => row.product_id);
  const user_ids = idsOf(shoppers, 'nickname');
  const receiver_user_ids = idsOf(shoppers, 'receiver');
  const [counted] = await sql<{ n: number }[]>`
    select (select count(*) from (select 1 from orders.order_items where product_id = any(${product_ids}::bigint[])
                                  limit ${countedCandidates}) as i)::int
         + (select count(*) from (select 1 from orders.orders
                                  where user_id = any(${[...user_ids, ...receiver_user_ids]}::bigint[])
                                  limit ${countedCandidates}) as o)::int as n`;
  return {
    text: part,
    order_id: digits && Number.isSafeInteger(Number(keyword)) ? Number(keyword) : null,
    order_no: digits ? [keyword, keyword.padEnd(orderNoDigits, '9')] : null,
    ...{ user_ids, receiver_user_ids, product_ids },
    candidates: counted!.n,
  };
}

const receiverHolds = (sql: Queryable, text: string) => sql`
  (position(${text} in lower(o.address_snapshot ->> 'name')) > 0 or position(${text} in o.address_snapshot ->> 'phone') > 0)`;

/** As a set to begin with: few orders are looked at, however many there are. */
function fromCandidates(sql: Queryable, hits: KeywordHits) {
  return sql`
    and o.id in (
      select ${hits.order_id}::bigint
      union all
      select n.id from orders.orders n
      where n.order_no between ${hits.order_no?.[0] ?? '1'} and ${hits.order_no?.[1] ?? '0'}
      union all
      select u.id from orders.orders u where u.user_id = any(${hits.user_ids}::bigint[])
      union all
      select o.id from orders.orders o
      where o.user_id = any(${hits.receiver_user_ids}::bigint[]) and ${receiverHolds(sql, hits.text)}
      union all
      select i.order_id from orders.order_items i
      where i.product_id = any(${hits.product_ids}::bigint[]) and position(${hits.text} in lower(i.title)) > 0)`;
}

/** As a question to each order, newest first. No `exists`: the planner would read the lines of all those goods for it. */
function whileWalking(sql: Queryable, hits: KeywordHits) {
  return sql`
    and (o.id = ${hits.order_id}::bigint
      or o.order_no between ${hits.order_no?.[0] ?? '1'} and ${hits.order_no?.[1] ?? '0'}
      or o.user_id = any(${hits.user_ids}::bigint[])
      or (o.user_id = any(${hits.receiver_user_ids}::bigint[]) and ${receiverHolds(sql, hits.text)})
      or (select true from orders.order_items i where i.order_id = o.id
          and i.product_id = any(${hits.product_ids}::bigint[]) and position(${hits.text} in lower(i.title)) > 0 limit 1))`;
}

/** The condition of a keyword on `orders.orders o`. */
export const keywordCondition = (sql: Queryable, hits: KeywordHits) =>
  hits.candidates < enoughCandidates ? fromCandidates(sql, hits) : whileWalking(sql, hits);
