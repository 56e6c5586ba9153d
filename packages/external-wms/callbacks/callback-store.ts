import type { Sql, Statement, Transaction } from '@tradepost/postgres';

export const callbackStatuses = ['success', 'failed', 'processing'] as const;
export type CallbackStatus = (typeof callbackStatuses)[number];
export type CallbackOutcome = 'applied' | 'ignored' | 'unknown_task';

/**
 * Claims these nonces and returns those that were free. A nonce is free when it was never used, or used so long ago that a message
 * of that time is refused. `nonces` has no duplicates. Two transactions with the same nonce wait for each other, always in the
 * same order.
 */
export async function claimNonces(
  tx: Transaction,
  nonces: readonly string[],
  { now, forgottenBefore }: { now: Date; forgottenBefore: Date },
): Promise<Set<string>> {
  const rows = await tx<{ nonce: string }[]>`
    insert into inventory.external_nonces as n (nonce, used_at)
    select u, ${now} from unnest(${[...nonces]}::text[]) as u order by u
    on conflict (nonce) do update set used_at = excluded.used_at where n.used_at < ${forgottenBefore}
    returning nonce`;
  return new Set(rows.map((row) => row.nonce));
}

/** Deletes the nonces of messages that are too old to be accepted. */
export async function forgetNonces(sql: Sql, olderThan: Date): Promise<void> {
  await sql`delete from inventory.external_nonces where used_at < ${olderThan}`;
}

/** A callback that arrived before, with its outcome. */
export type KnownCallback = { callback_id: string; request_id: string; outcome: CallbackOutcome };

/** Locks the callbacks that arrived before, in the order of their ids. */
export async function lockCallbacks(tx: Transaction, ids: readonly string[]): Promise<Map<string, KnownCallback>> {
  const rows = await tx<KnownCallback[]>`
    select callback_id, request_id, outcome from inventory.external_callbacks
    where callback_id = any(${[...ids]}::text[]) order by callback_id for no key update`;
  return new Map(rows.map((row) => [row.callback_id, row]));
}

export type CallbackRecord = {
  callback_id: string;
  request_id: string;
  task_id: number | null;
  status: CallbackStatus;
  message: string;
  body: string;
  outcome: CallbackOutcome;
  /** How often the callback arrived in this batch. */
  seen: number;
};

const recordset = (tx: Transaction, rows: readonly CallbackRecord[]) => tx`
  json_to_recordset(${JSON.stringify(rows)}::text::json) as r (callback_id text, request_id text, task_id bigint,
    status text, message text, body text, outcome text, seen int)`;

/** Fails (external_callbacks_pkey) when another transaction has written one of the callbacks since `lockCallbacks`. */
export function insertCallbacks(tx: Transaction, rows: readonly CallbackRecord[], now: Date): Statement {
  return tx`
    insert into inventory.external_callbacks (callback_id, request_id, task_id, status, message, body, outcome, seen,
      received_at, last_seen_at)
    select callback_id, request_id, task_id, status, message, body, outcome, seen, ${now}, ${now}
    from ${recordset(tx, rows)} order by callback_id`;
}

/** Counts repeats of locked callbacks. The outcome does not change, unless the task was unknown before. */
export function updateCallbacks(tx: Transaction, rows: readonly CallbackRecord[], now: Date): Statement {
  return tx`
    update inventory.external_callbacks c
    set seen = c.seen + r.seen, last_seen_at = ${now},
        outcome = case when c.outcome = 'unknown_task' then r.outcome else c.outcome end,
        task_id = coalesce(c.task_id, r.task_id),
        request_id = case when c.outcome = 'unknown_task' then r.request_id else c.request_id end,
        status = case when c.outcome = 'unknown_task' then r.status else c.status end,
        message = case when c.outcome = 'unknown_task' then r.message else c.message end,
        body = case when c.outcome = 'unknown_task' then r.body else c.body end
    from ${recordset(tx, rows)}
    where c.callback_id = r.callback_id`;
}
