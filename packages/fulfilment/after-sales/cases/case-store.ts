import type { Paging } from '@tradepost/core';
import type { Queryable, Statement } from '@tradepost/postgres';
import type { AfterSaleCase, CaseLog } from './case.ts';
import { type CaseStatus, type CaseType, endedStatuses } from './case-moves.ts';

const ended = [...endedStatuses];

const caseColumns = (sql: Queryable) => sql`
  c.id, c.case_no, c.order_id, c.user_id, c.merchant_id, c.order_status_snapshot, c.case_type, c.status, c.reason,
  c.apply_content, c.apply_images, c.audit_status, c.audit_remark, c.refund_amount, c.refund_no, c.close_reason,
  c.completed_at, c.created_at, c.updated_at,
  (select json_agg(json_build_object('id', i.id, 'case_id', i.case_id, 'order_item_id', i.order_item_id, 'qty', i.qty)
                   order by i.id)
   from fulfilment.after_sale_items i where i.case_id = c.id) as items`;

/** These cases with their lines, in no order. */
export async function selectCases(sql: Queryable, ids: readonly number[]): Promise<AfterSaleCase[]> {
  return sql<AfterSaleCase[]>`
    select ${caseColumns(sql)} from fulfilment.after_sale_cases c where c.id = any(${[...ids]}::bigint[])`;
}

export async function selectCase(sql: Queryable, id: number): Promise<AfterSaleCase | undefined> {
  const [row] = await selectCases(sql, [id]);
  return row;
}

/** The orders of these cases, each once. The order of a case never changes. */
export async function selectCaseOrderIds(sql: Queryable, caseIds: readonly number[]): Promise<number[]> {
  const rows = await sql<{ order_id: number }[]>`
    select distinct order_id from fulfilment.after_sale_cases where id = any(${[...caseIds]}::bigint[])`;
  return rows.map((row) => row.order_id);
}

export type CaseFilter = {
  /** Null for the cases of all shoppers. */
  user_id: number | null;
  status: CaseStatus | null;
  case_type: CaseType | null;
  order_id: number | null;
};

function conditions(sql: Queryable, { user_id, status, case_type, order_id }: CaseFilter): Statement {
  return sql`true
    ${user_id === null ? sql`` : sql`and c.user_id = ${user_id}`}
    ${status === null ? sql`` : sql`and c.status = ${status}`}
    ${case_type === null ? sql`` : sql`and c.case_type = ${case_type}`}
    ${order_id === null ? sql`` : sql`and c.order_id = ${order_id}`}`;
}

/** A page of cases, newest first. */
export async function selectCasePage(
  sql: Queryable,
  filter: CaseFilter,
  paging: Paging,
): Promise<{ rows: AfterSaleCase[]; total: number }> {
  const where = conditions(sql, filter);
  const rows = await sql<(AfterSaleCase & { total: number })[]>`
    with counted as (select count(*)::int as total from fulfilment.after_sale_cases c where ${where}),
    page as (
      select c.id from fulfilment.after_sale_cases c where ${where}
      order by c.id desc limit ${paging.size} offset ${paging.offset}
    )
    select ${caseColumns(sql)}, counted.total
    from counted left join (page join fulfilment.after_sale_cases c using (id)) on true
    order by c.id desc`;
  const found = rows.filter((row) => row.id !== null).map(({ total: _total, ...row }) => row);
  return { rows: found, total: rows[0]?.total ?? 0 };
}

/** The logs of these cases, oldest first. */
export async function selectLogs(sql: Queryable, caseIds: readonly number[]): Promise<CaseLog[]> {
  return sql<CaseLog[]>`
    select id, case_id, from_status, to_status, action, operator_type, operator_id, details, created_at
    from fulfilment.after_sale_logs where case_id = any(${[...caseIds]}::bigint[]) order by case_id, id`;
}

/** What cases have used of a line of an order. */
export type LineUse = {
  order_item_id: number;
  /** The line has an open case. */
  is_open: boolean;
  /** The pieces that were refunded. They cannot be returned or exchanged again. */
  refunded: number;
};

export type OrderCases = {
  order_id: number;
  in_progress_count: number;
  latest_case_id: number;
  latest_status: CaseStatus;
  /** The status that the order had before its first open case, or before its latest one when none is open. */
  status_before: number;
  /** The lines that cases name, each once. */
  lines: LineUse[];
};

/** The cases of these orders in sum. An order without cases is absent. */
export async function selectOrderCases(sql: Queryable, orderIds: readonly number[]): Promise<OrderCases[]> {
  return sql<OrderCases[]>`
    with cases as (
      select id, order_id, case_type, status, order_status_snapshot
      from fulfilment.after_sale_cases where order_id = any(${[...orderIds]}::bigint[])
    ), summed as (
      select order_id, (count(*) filter (where status <> all(${ended}::text[])))::int as in_progress_count,
             max(id) as latest_case_id, (array_agg(status order by id desc))[1] as latest_status,
             -- Later cases of the same open period were opened while the order was in 5, after-sale.
             (array_agg(order_status_snapshot order by id desc) filter (where order_status_snapshot <> 5))[1]
               as status_before
      from cases group by order_id
    ), used as (
      select c.order_id, i.order_item_id, bool_or(i.is_open) as is_open,
             coalesce(sum(i.qty) filter (where c.case_type = 'return' and c.status in ('refunded', 'completed')), 0)
               as refunded
      from cases c join fulfilment.after_sale_items i on i.case_id = c.id group by c.order_id, i.order_item_id
    )
    select summed.*, (
      select coalesce(json_agg(json_build_object('order_item_id', u.order_item_id, 'is_open', u.is_open,
                                                 'refunded', u.refunded)), '[]')
      from used u where u.order_id = summed.order_id) as lines
    from summed`;
}

/** The lines of these orders that cases name, by line id. */
export const linesOf = (orders: readonly OrderCases[]): Map<number, LineUse> =>
  new Map(orders.flatMap((order) => order.lines.map((line) => [line.order_item_id, line] as const)));

/** The orders that have a case, each once, newest first: a relation with the column order_id. */
export const ordersWithCase = (sql: Queryable): Statement =>
  sql`(select distinct order_id from fulfilment.after_sale_cases order by order_id desc)`;

/** The number of open cases. */
export async function countOpenCases(sql: Queryable): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from fulfilment.after_sale_cases where status not in ('completed', 'rejected', 'closed')`;
  return row!.n;
}

/** The images of cases, messages and evidences: one address per row. */
export const shownImages = (sql: Queryable): Statement => sql`
  select jsonb_array_elements_text(apply_images) from fulfilment.after_sale_cases
  union all select jsonb_array_elements_text(images) from fulfilment.after_sale_messages
  union all select jsonb_array_elements_text(images) from fulfilment.after_sale_evidences`;
