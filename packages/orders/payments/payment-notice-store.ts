import type { Statement, Transaction } from '@tradepost/postgres';

export type NoticeOutcome =
  | 'paid'
  | 'failed'
  | 'surplus'
  | 'repeated'
  | 'unknown_payment'
  | 'amount_mismatch'
  | 'trade_conflict';

export type NonceUse = { provider: string; nonce: string; digest: string };

/**
 * Records the digest with which each nonce is used, and returns the digest with which it was first used. A different digest
 * means that the nonce was used twice. Each nonce occurs once in `uses`. Two transactions with the same nonces wait for each
 * other in the same order, so they do not deadlock.
 */
export async function rememberNonces(tx: Transaction, uses: readonly NonceUse[], now: Date): Promise<NonceUse[]> {
  return tx<NonceUse[]>`
    insert into orders.payment_nonces as n (provider, nonce, digest, created_at)
    select provider, nonce, decode(digest, 'hex'), ${now}
    from unnest(${uses.map((u) => u.provider)}::text[], ${uses.map((u) => u.nonce)}::text[],
                ${uses.map((u) => u.digest)}::text[]) as u (provider, nonce, digest)
    order by provider, nonce
    on conflict (provider, nonce) do update set digest = n.digest
    returning n.provider, n.nonce, encode(n.digest, 'hex') as digest`;
}

export type NoticeRow = {
  provider: string;
  digest: string;
  payment_no: string;
  trade_no: string;
  amount: number;
  currency: string;
  status: string;
  outcome: NoticeOutcome;
  payment_id: number | null;
  order_id: number | null;
  seen: number;
};

/** Records one row per distinct notice. A repeated notice increases `seen` and adds no row. Each occurs once in `rows`. */
export function recordNotices(tx: Transaction, rows: readonly NoticeRow[], now: Date): Statement {
  return tx`
    insert into orders.payment_notices as n (provider, digest, payment_no, trade_no, amount, currency, status, outcome,
      payment_id, order_id, seen, created_at, last_seen_at)
    select provider, decode(digest, 'hex'), payment_no, trade_no, amount, currency, status, outcome, payment_id, order_id, seen,
      ${now}, ${now}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (provider text, digest text, payment_no text,
      trade_no text, amount bigint, currency text, status text, outcome text, payment_id bigint, order_id bigint, seen int)
    order by provider, digest
    on conflict (provider, digest) do update
    set seen = n.seen + excluded.seen, last_seen_at = excluded.last_seen_at,
        -- a repeat does not replace the first outcome; a notice that was refused may be accepted later
        outcome = case when excluded.outcome = 'repeated' then n.outcome else excluded.outcome end,
        payment_id = coalesce(excluded.payment_id, n.payment_id), order_id = coalesce(excluded.order_id, n.order_id)`;
}
