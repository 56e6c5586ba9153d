import type { Statement, Transaction } from '@tradepost/postgres';

const bizType = 'order';

/**
 * Ends the tasks of pre-reservations in the transaction that writes their orders. The transaction fails when a worker has
 * dead-lettered one of them, because its release is then already a task.
 */
export function finishPreReservations(tx: Transaction, bizNos: readonly string[], now: Date): Statement {
  return tx`
    with done as (
      update inventory.inventory_integration_tasks
      set status = 'success', completed_at = ${now}, updated_at = ${now}, lock_owner = null, lock_expires_at = null,
          last_code = 0, last_error = ''
      where biz_type = ${bizType} and biz_no = any(${[...bizNos]}::text[]) and action = 'reserve' and mode = 'sync'
        and status = 'processing'
      returning id
    )
    select inventory.must_be_held(count(*) = ${bizNos.length}) from done`;
}

/** Fails the tasks of pre-reservations whose orders are not written. */
export function failPreReservations(
  tx: Transaction,
  rows: readonly { biz_no: string; code: number | null; error: string }[],
  now: Date,
): Statement {
  return tx`
    update inventory.inventory_integration_tasks t
    set status = 'failed', completed_at = ${now}, updated_at = ${now}, lock_owner = null, lock_expires_at = null,
        last_code = r.code, last_error = r.error
    from unnest(${rows.map((r) => r.biz_no)}::text[], ${rows.map((r) => r.code)}::int[], ${rows.map((r) => r.error)}::text[])
      as r (biz_no, code, error)
    where t.biz_type = ${bizType} and t.biz_no = r.biz_no and t.action = 'reserve' and t.mode = 'sync'
      and t.status = 'processing'`;
}
