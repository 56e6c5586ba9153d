import type { Paging } from '@tradepost/core';
import { plannedByValue, type Queryable, type Sql, type Statement } from '@tradepost/postgres';
import { faultCode } from '@tradepost/runtime';
import { type Keyword, keywordCondition } from '../search/order-search-store.ts';
import type { Order } from './order.ts';
import { blockBits, orderCounts } from './order-counts-store.ts';
import type { OrderStatus } from './order-status.ts';
import { orderColumns } from './order-store.ts';

export type AdminOrderFilter = {
  status: OrderStatus | null;
  pay_method: string | null;
  /** Both inclusive. */
  time_start: Date | null;
  time_end: Date | null;
  /** Payable amount in minor units, both inclusive. */
  amount_min: number | null;
  amount_max: number | null;
  /** The provinces that match the filter. No order matches an empty list. */
  provinces: string[] | null;
  /** A relation with the column order_id. Only these orders match. */
  restrictedTo: Statement | null;
  keyword: Keyword | null;
};

export type OrderPage = { rows: Order[]; total: number };

/** Above this number of expected orders the total is the estimate of the planner, because counting takes too long. */
const exactTotal = 10_000;
/** The time limit of a count. */
const countMs = 30;
/** The number of newest orders from which the share of a common keyword is estimated. */
const sampleSize = 500;

/** A shopper's orders, newest first. */
export async function selectShopperOrders(
  sql: Sql,
  filter: { userId: number; status: OrderStatus | null },
  paging: Paging,
): Promise<OrderPage> {
  // The statement has only the conditions that are needed. A condition such as "null or equal" would prevent the use of an index.
  const where = sql`user_id = ${filter.userId} ${filter.status === null ? sql`` : sql`and status = ${filter.status}`}`;
  const rows = await sql<(Order & { total: number })[]>`
    with counted as (select count(*)::int as total from orders.orders where ${where}),
    page as (select id from orders.orders where ${where} order by id desc limit ${paging.size} offset ${paging.offset})
    select ${orderColumns(sql)}, counted.total
    from counted left join (page join orders.orders o using (id)) on true
    order by o.id desc`;
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

/** The condition on status and payment method. `c` is the orders or their counts, which have the same column names. */
const kindOf = (sql: Queryable, filter: AdminOrderFilter) => sql`
  ${filter.status === null ? sql`` : sql`and c.status = ${filter.status}`}
  ${filter.pay_method === null ? sql`` : sql`and c.payment_method = ${filter.pay_method}`}`;

const createdIn = (sql: Queryable, { time_start, time_end }: AdminOrderFilter) => sql`
  ${time_start ? sql`and c.created_at >= ${time_start}` : sql``} ${time_end ? sql`and c.created_at <= ${time_end}` : sql``}`;

/** The condition on the counts of a block: the block may contain an order of the time span. */
const blocksIn = (sql: Queryable, { time_start, time_end }: AdminOrderFilter) => sql`
  ${time_start ? sql`and max(last_at) >= ${time_start}` : sql``} ${time_end ? sql`and min(first_at) <= ${time_end}` : sql``}`;

/**
 * A page filtered by status, payment method and time. The counts of the blocks give the total and the blocks that the page is
 * in, so page 5,000 costs as much as page 1. A block that is only partly within the time is counted order by order.
 */
async function selectCountedPage(sql: Sql, filter: AdminOrderFilter, paging: Paging): Promise<OrderPage> {
  const { size, offset } = paging;
  const { time_start, time_end } = filter;
  const inBlock = sql`c.id >= b.block << ${blockBits} and c.id < (b.block + 1) << ${blockBits}`;
  const exact =
    time_start || time_end
      ? sql`case when true ${time_start ? sql`and b.first_at >= ${time_start}` : sql``}
                 ${time_end ? sql`and b.last_at <= ${time_end}` : sql``} then b.n
            else (select count(*) from orders.orders c where ${inBlock} ${kindOf(sql, filter)} ${createdIn(sql, filter)}) end`
      : sql`b.n`;
  const rows = await sql<(Order & { total: number })[]>`
    with blocks as (
      select block, sum(n) as n, min(first_at) as first_at, max(last_at) as last_at from ${orderCounts(sql)} as c
      where true ${kindOf(sql, filter)}
      group by block having sum(n) > 0 ${blocksIn(sql, filter)}
    ), counted as (
      select block, ${exact} as n from blocks b
    ), run as (
      select block, n, sum(n) over (order by block desc) - n as before from counted where n > 0
    ), pages as materialized (
      select block, before from run where before + n > ${offset} and before < ${offset + size}
    ), page as (
      select o.id from pages b
      cross join lateral (
        select c.id from orders.orders c where ${inBlock} ${kindOf(sql, filter)} ${createdIn(sql, filter)}
        order by c.id desc limit ${offset + size} - b.before
      ) as o
      order by o.id desc
      limit ${size} offset ${offset} - (select coalesce(min(before), 0) from pages)
    ), total as (select coalesce(sum(n), 0)::int as total from counted)
    select ${orderColumns(sql)}, total.total
    from total left join (page join orders.orders o using (id)) on true
    order by o.id desc`;
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

/** The condition that limits the ids to the first and the last block with an order of this status, method and time. */
function withinBlocks(sql: Queryable, filter: AdminOrderFilter): Statement {
  const { status, pay_method, time_start, time_end } = filter;
  if (status === null && pay_method === null && !time_start && !time_end) return sql``;
  const edge = (of: Statement) => sql`
    (select ${of} from (select block from ${orderCounts(sql)} as c where true ${kindOf(sql, filter)}
                        group by block having sum(n) > 0 ${blocksIn(sql, filter)}) as b)`;
  return sql`
    and o.id >= ${edge(sql`min(block) << ${blockBits}`)} and o.id < ${edge(sql`(max(block) + 1) << ${blockBits}`)}`;
}

/** The SQL condition of a filter on `orders.orders o`, without `restrictedTo`. */
export function conditions(sql: Queryable, filter: AdminOrderFilter): Statement {
  const { time_start, time_end, keyword } = filter;
  return sql`true ${withinBlocks(sql, filter)}
    ${filter.status === null ? sql`` : sql`and o.status = ${filter.status}`}
    ${filter.pay_method === null ? sql`` : sql`and o.payment_method = ${filter.pay_method}`}
    ${time_start ? sql`and o.created_at >= ${time_start}` : sql``} ${time_end ? sql`and o.created_at <= ${time_end}` : sql``}
    ${filter.amount_min === null ? sql`` : sql`and o.total_amount >= ${filter.amount_min}`}
    ${filter.amount_max === null ? sql`` : sql`and o.total_amount <= ${filter.amount_max}`}
    ${filter.provinces === null ? sql`` : inProvinces(sql, filter.provinces)}
    ${keyword ? keywordCondition(sql, keyword) : sql``}`;
}

/** A single name is compared with `=`, because only then the index returns the orders in the order of the list. */
const inProvinces = (sql: Queryable, names: readonly string[]) =>
  names.length === 1 ? sql`and o.province = ${names[0]!}` : sql`and o.province = any(${[...names]}::text[])`;

/** The provinces that contain the text. The query jumps in the index from one province to the next, because there are few. */
export async function selectProvinces(sql: Queryable, part: string): Promise<string[]> {
  const rows = await sql<{ province: string }[]>`
    with recursive names as (
      (select province from orders.orders order by province limit 1)
      union all
      select (select o.province from orders.orders o where o.province > names.province order by o.province limit 1)
      from names where names.province is not null
    )
    select province from names where position(lower(${part}) in lower(province)) > 0`;
  return rows.map((row) => row.province);
}

async function estimate(sql: Sql, matching: Statement): Promise<number> {
  const [row] = await plannedByValue(sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }[]>`
    explain (format json) select 1 ${matching}`);
  return Math.round(row!['QUERY PLAN'][0].Plan['Plan Rows']);
}

/** SQLSTATE query_canceled: the statement timeout was exceeded. */
const queryCanceled = '57014';

/** The number of matching orders: the estimate of the planner when it is large or when counting takes too long. */
async function countMatching(sql: Sql, matching: Statement): Promise<number> {
  const guess = await estimate(sql, matching);
  if (guess > exactTotal) return guess;
  try {
    return await sql.begin(async (tx) => {
      const [, [row]] = await Promise.all([
        tx`select set_config('statement_timeout', ${String(countMs)}, true)`,
        plannedByValue(tx<{ total: number }[]>`
          select count(*)::int as total from (select 1 ${matching} limit ${2 * exactTotal}) as m`),
      ]);
      return row!.total;
    });
  } catch (error) {
    if (faultCode(error) === queryCanceled) return guess;
    throw error;
  }
}

/**
 * The number of orders that match a common keyword, which the planner cannot estimate. It is exact when fewer than `sampleSize`
 * orders match the other filters. Otherwise it is estimated from the share among the newest orders.
 */
async function countCommon(sql: Sql, filter: AdminOrderFilter, keyword: Keyword, from: Statement): Promise<number> {
  const others = { ...filter, keyword: null };
  const [row] = await plannedByValue(sql<{ sampled: number; hits: number }[]>`
    with newest as (
      select o.id, o.order_no, o.user_id, o.address_snapshot ${from} where ${conditions(sql, others)}
      order by o.id desc limit ${sampleSize}
    )
    select count(*)::int as sampled, (count(*) filter (where true ${keywordCondition(sql, keyword)}))::int as hits
    from newest as o`);
  const { sampled, hits } = row!;
  if (sampled < sampleSize) return hits;
  const all = isCounted(others)
    ? (await selectCountedPage(sql, others, { page: 1, size: 1, offset: 0 })).total
    : await estimate(sql, sql`${from} where ${conditions(sql, others)}`);
  return Math.round((all * hits) / sampled);
}

/** A page of the orders that match a rare keyword. All matches are read in one statement. */
async function selectRarePage(sql: Sql, matching: Statement, paging: Paging): Promise<OrderPage> {
  const rows = await plannedByValue(sql<(Order & { total: number })[]>`
    with matching as materialized (select o.id ${matching}),
    page as (select id from matching order by id desc limit ${paging.size} offset ${paging.offset}),
    counted as (select count(*)::int as total from matching)
    select ${orderColumns(sql)}, counted.total
    from counted left join (page join orders.orders o using (id)) on true
    order by o.id desc`);
  return { rows: rows.filter((row) => row.id !== null), total: rows[0]?.total ?? 0 };
}

async function selectFilteredPage(sql: Sql, filter: AdminOrderFilter, paging: Paging): Promise<OrderPage> {
  const { keyword, restrictedTo } = filter;
  const from = restrictedTo
    ? sql`from ${restrictedTo} as s join orders.orders o on o.id = s.order_id`
    : sql`from orders.orders o`;
  const matching = sql`${from} where ${conditions(sql, filter)}`;
  if (keyword && !keyword.common) return selectRarePage(sql, matching, paging);
  const [rows, counted] = await Promise.all([
    plannedByValue(sql<Order[]>`
      with page as (
        select o.id ${matching} order by o.id desc limit ${paging.size} offset ${paging.offset}
      )
      select ${orderColumns(sql)} from page join orders.orders o using (id) order by o.id desc`),
    keyword ? countCommon(sql, filter, keyword, from) : countMatching(sql, matching),
  ]);
  const seen = paging.offset + rows.length;
  // A page that is not full is the last page, so its end is the total.
  if (rows.length < paging.size && (rows.length > 0 || paging.page === 1)) return { rows, total: seen };
  return { rows, total: Math.max(counted, rows.length > 0 ? seen : 0) };
}

/** Whether the counts of the blocks suffice for this filter. */
const isCounted = ({ amount_min, amount_max, provinces, restrictedTo, keyword }: AdminOrderFilter): boolean =>
  amount_min === null && amount_max === null && provinces === null && !restrictedTo && !keyword;

/** The orders that are in all of these relations with the column order_id. The order of the first one is kept. */
export function inAll(sql: Queryable, [first, ...others]: readonly Statement[]): Statement {
  if (others.length === 0) return first!;
  const rest = others.map((other) => sql`and r.order_id in (select order_id from ${other} as t)`);
  return sql`(select r.order_id from ${first!} as r where true ${rest.reduce((all, one) => sql`${all} ${one}`)})`;
}

/** A page of the orders of all shoppers, newest first. The total is exact for filters by status, method and time. */
export async function selectAdminOrders(sql: Sql, filter: AdminOrderFilter, paging: Paging): Promise<OrderPage> {
  if (filter.provinces?.length === 0) return { rows: [], total: 0 };
  return isCounted(filter) ? selectCountedPage(sql, filter, paging) : selectFilteredPage(sql, filter, paging);
}
