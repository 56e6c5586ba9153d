import type { Runtime } from '@tradepost/runtime';
import { expireBatch } from '../limits.ts';
import { markExpired } from './use-store.ts';

/** Marks unused coupons that have ended as expired. Returns their number. It may run late or twice. */
export async function expireCoupons({ sql, now }: Pick<Runtime, 'sql' | 'now'>, signal: AbortSignal): Promise<number> {
  let expired = 0;
  while (!signal.aborted) {
    const marked = await markExpired(sql, now());
    expired += marked;
    if (marked < expireBatch) break;
  }
  return expired;
}
