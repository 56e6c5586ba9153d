import type { Statement, Transaction } from '@tradepost/postgres';

/** A success of the endpoint is stored at most this often. */
const successEveryMs = 60_000;

/** Locks endpoints in the order of their ids. Before the updates below, which lock some of them in any order. */
export const lockEndpointRows = (tx: Transaction, ids: readonly number[]): Statement => tx`
  select from webhooks.endpoints where id = any(${[...ids]}::bigint[]) order by id for no key update`;

/** These endpoints have accepted a delivery. */
export async function recordSuccesses(tx: Transaction, ids: readonly number[], now: Date): Promise<void> {
  await tx`
    update webhooks.endpoints set failing_since = null, last_success_at = ${now}
    where id = any(${[...ids]}::bigint[]) and (
      failing_since is not null or last_success_at is null
      or last_success_at < ${new Date(now.getTime() - successEveryMs)})`;
}

/** These endpoints have only failed since their last success. */
export async function recordFailures(tx: Transaction, ids: readonly number[], now: Date): Promise<void> {
  await tx`
    update webhooks.endpoints set failing_since = ${now}
    where id = any(${[...ids]}::bigint[]) and failing_since is null`;
}

export type Disabled = { readonly id: number; readonly url: string };

/** Disables endpoints that answered 410. */
export async function disableGone(tx: Transaction, ids: readonly number[], now: Date): Promise<Disabled[]> {
  return tx<Disabled[]>`
    update webhooks.endpoints
    set enabled = false, disabled_reason = 'gone', disabled_at = ${now}, updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) and enabled
    returning id, url`;
}

/** Disables endpoints among these that have only failed since `before`. */
export async function disableDead(
  tx: Transaction,
  ids: readonly number[],
  { before, now }: { before: Date; now: Date },
): Promise<Disabled[]> {
  return tx<Disabled[]>`
    update webhooks.endpoints
    set enabled = false, disabled_reason = 'dead', disabled_at = ${now}, updated_at = ${now}
    where id = any(${[...ids]}::bigint[]) and enabled and failing_since <= ${before}
    returning id, url`;
}
