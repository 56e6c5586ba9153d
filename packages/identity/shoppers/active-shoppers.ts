import type { Queryable, Sql } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { channels, floorsOf } from '../tokens/token-events.ts';
import { selectFloorsSince } from '../tokens/token-store.ts';

/** Those of the ids whose account is there and enabled. */
export async function activeShoppers(sql: Queryable, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ id: number }[]>`
    select id from identity.shoppers where id = any(${[...ids]}::bigint[]) and status = 1 and deleted_at is null`;
  return new Set(rows.map((row) => row.id));
}

/**
 * Shoppers whose login tokens were ended since then, each with a number that is higher after a later end: those who were
 * disabled, enabled again or deleted are among them.
 */
export async function shoppersEndedSince(sql: Sql, since: Date): Promise<{ id: number; generation: number }[]> {
  const floors = await selectFloorsSince(sql, since);
  return floors.flatMap(({ role, account_id: id, generation }) => (role === 'user' ? [{ id, generation }] : []));
}

/**
 * Shoppers whose login tokens have ended, on whichever instance: deleted accounts are among them, ask which are still active.
 * At most once: `shoppersEndedSince` is the net. Answers the function that ends the subscription.
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
