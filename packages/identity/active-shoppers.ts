import type { Queryable, Runtime } from '@tradepost/runtime';

/** Those of the ids whose account is there and enabled. */
export async function activeShoppers(sql: Queryable, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await sql<{ id: number }[]>`
    select id from identity.shoppers where id = any(${[...ids]}::bigint[]) and status = 1 and deleted_at is null`;
  return new Set(rows.map((row) => row.id));
}

/**
 * Shoppers whose login tokens have ended, on whichever instance: deleted accounts are among them, ask which are still active.
 * At most once: keep a poll as the net. Answers the function that ends the subscription.
 */
export function onShopperTokensEnded(
  events: Runtime['events'],
  handle: (ids: readonly number[]) => void,
): Promise<() => Promise<void>> {
  // The message of tokens.ts: `user 3 17,admin 1 18`, the last number being the generation.
  return events.subscribe('identity.floors', (message) => {
    const ids = message.split(',').flatMap((part) => {
      const [role, id] = part.split(' ');
      return role === 'user' ? [Number(id)] : [];
    });
    if (ids.length > 0) handle(ids);
  });
}
