import type { Transaction } from '@tradepost/postgres';
import type { AfterSaleCase, LogDetails, Operator } from './case.ts';
import { type CaseAction, type CaseStatus, endedStatuses } from './case-moves.ts';

export type NewCase = Pick<
  AfterSaleCase,
  | 'id'
  | 'case_no'
  | 'order_id'
  | 'user_id'
  | 'merchant_id'
  | 'order_status_snapshot'
  | 'case_type'
  | 'reason'
  | 'apply_content'
  | 'apply_images'
  | 'refund_amount'
> & { items: readonly { order_item_id: number; qty: number }[] };

/** Reserves ids for cases that will be written. The case number contains the id. */
export async function nextCaseIds(tx: Transaction, count: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select nextval('fulfilment.after_sale_cases_id_seq') as id from generate_series(1, ${count})`;
  return rows.map((row) => row.id);
}

/** Inserts cases in the state `applied`, with their lines and the first entry of their logs. */
export async function insertCases(tx: Transaction, rows: readonly NewCase[], now: Date): Promise<void> {
  const items = rows.flatMap(({ id, items: lines }) => lines.map((line) => ({ case_id: id, ...line })));
  await tx`
    with added as (
      insert into fulfilment.after_sale_cases (id, case_no, order_id, user_id, merchant_id, order_status_snapshot, case_type,
        status, reason, apply_content, apply_images, refund_amount, created_at, updated_at)
      select id, case_no, order_id, user_id, merchant_id, order_status_snapshot, case_type, 'applied', reason, apply_content,
        apply_images, refund_amount, ${now}, ${now}
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as c (id bigint, case_no text, order_id bigint,
        user_id bigint, merchant_id bigint, order_status_snapshot smallint, case_type text, reason text, apply_content text,
        apply_images jsonb, refund_amount bigint)
      returning id, user_id, reason
    ), lines as (
      insert into fulfilment.after_sale_items (case_id, order_item_id, qty)
      select added.id, i.order_item_id, i.qty
      from json_to_recordset(${JSON.stringify(items)}::text::json) as i (case_id bigint, order_item_id bigint, qty int)
      join added on added.id = i.case_id
      order by i.order_item_id
    )
    insert into fulfilment.after_sale_logs (case_id, from_status, to_status, action, operator_type, operator_id, details,
      created_at)
    select id, '', 'applied', 'apply', 'user', user_id, jsonb_build_object('reason', reason), ${now} from added order by id`;
}

/** The columns that a move changes besides the status. An absent one stays as it is. */
export type CaseValues = Partial<
  Pick<AfterSaleCase, 'audit_status' | 'audit_remark' | 'refund_amount' | 'refund_no' | 'close_reason'>
>;
export type CaseChange = {
  id: number;
  from_status: CaseStatus;
  to_status: CaseStatus;
  action: CaseAction;
  operator: Operator;
  values: CaseValues;
  details: LogDetails;
};

/**
 * Moves cases, ends their lines when the case has ended, and writes their logs, in one statement. The caller decided under
 * the locks of the orders, so the statement fails when a case is not in its `from_status`: nothing is committed.
 */
export async function updateCases(tx: Transaction, changes: readonly CaseChange[], now: Date): Promise<void> {
  const rows = changes.map(({ operator, values, ...change }) => ({
    ...change,
    ...values,
    operator_type: operator.type,
    operator_id: operator.id,
  }));
  await tx`
    with wanted as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (id bigint, from_status text, to_status text,
        action text, operator_type text, operator_id bigint, details jsonb, audit_status text, audit_remark text,
        refund_amount bigint, refund_no text, close_reason text)
    ), moved as (
      update fulfilment.after_sale_cases c
      set status = w.to_status, audit_status = coalesce(w.audit_status, c.audit_status),
          audit_remark = coalesce(w.audit_remark, c.audit_remark),
          refund_amount = coalesce(w.refund_amount, c.refund_amount), refund_no = coalesce(w.refund_no, c.refund_no),
          close_reason = coalesce(w.close_reason, c.close_reason),
          completed_at = case when w.to_status = 'completed' then ${now}::timestamptz end, updated_at = ${now}
      from wanted w where c.id = w.id and c.status = w.from_status
      returning c.id, w.from_status, w.to_status, w.action, w.operator_type, w.operator_id, w.details
    ), freed as (
      update fulfilment.after_sale_items i set is_open = false
      from moved m where i.case_id = m.id and m.to_status = any(${[...endedStatuses]}::text[])
    ), logged as (
      insert into fulfilment.after_sale_logs (case_id, from_status, to_status, action, operator_type, operator_id, details,
        created_at)
      select id, from_status, to_status, action, operator_type, operator_id, details, ${now} from moved order by id
    )
    select runtime.must(count(*) = ${changes.length}, 'a case was not in the state that its move was decided for')
    from moved`;
}
