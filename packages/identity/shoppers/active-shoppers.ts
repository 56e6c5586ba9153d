import type { Queryable, Sql, Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { channels, floorsOf } from '../tokens/token-events.ts';
import { selectFloorsSince } from '../tokens/token-store.ts';

/** The ids of existing and enabled accounts among these ids. */
export async function activeShoppers(sql: Queryable, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ id: number }[]>`
    select id from identity.shoppers where id = any(${[...ids]}::bigint[]) and status = 1 and deleted_at is null`;
  return new Set(rows.map((row) => row.id));
}

/**
 * The ids of existing and enabled accounts among these ids. They are not deleted before the transaction ends. For rows that are
 * deleted with the account. The deletion changes the phone, which is a key: this lock stops it, and no other change of the account.
 */
export async function lockActiveShoppers(tx: Transaction, ids: readonly number[]): Promise<Set<number>> {
  const rows = await tx<{ id: number }[]>`
    select id from identity.shoppers
    where id = any(${[...ids]}::bigint[]) and status = 1 and deleted_at is null order by id for key share`;
  return new Set(rows.map((row) => row.id));
}

/** As `lockActiveShoppers`, with disabled accounts: for balances that must be right when the account is enabled again. */
export async function lockShoppers(tx: Transaction, ids: readonly number[]): Promise<Set<number>> {
  const rows = await tx<{ id: number }[]>`
    select id from identity.shoppers
    where id = any(${[...ids]}::bigint[]) and deleted_at is null order by id for key share`;
  return new Set(rows.map((row) => row.id));
}

/**
 * Shoppers whose login tokens were all ended since this time: after a logout everywhere, and when the account was disabled,
 * enabled or deleted. `generation` is higher for a later end.
 */
export async function shoppersEndedSince(sql: Sql, since: Date): Promise<{ id: number; generation: number }[]> {
  const floors = await selectFloorsSince(sql, since);
  return floors.flatMap(({ role, account_id: id, generation }) => (role === 'user' ? [{ id, generation }] : []));
}

/**
 * Calls `handle` with shoppers whose login tokens were all ended on any instance. Deleted accounts are among them; use
 * `activeShoppers` to find them. A notification can be lost, so callers also poll `shoppersEndedSince`. Returns the function
 * that ends the subscription.
 */
export function onShopperTokensEnded(
  events: Runtime['events'],
  handle: (ids: readonly number[]) => void,
): Promise<() => Promise<void>> {
  return events.subscribe(channels.floors, (message) => {
    const ids = floorsOf(message).flatMap(({ role, account_id }) => (role === 'user' ? [account_id] : []));
    if (ids.length > 0) handle(ids);
  });
}
