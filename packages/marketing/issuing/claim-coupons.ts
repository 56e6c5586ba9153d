import { writeTransaction } from '@tradepost/postgres';
import type { RecordOutcomes, Runtime } from '@tradepost/runtime';
import { issueCoupons } from './issue-coupons.ts';
import type { FindLevels } from './target-store.ts';

export type Claim = { readonly user_id: number; readonly coupon_id: number };

/** Claims coupons for shoppers, in order of arrival, in one transaction. Returns the id of each claimed coupon, or its refusal. */
export function claimCoupons(
  { runtime, levels }: { runtime: Pick<Runtime, 'sql' | 'now'>; levels: FindLevels },
  claims: readonly Claim[],
  record?: RecordOutcomes<number>,
): Promise<(number | Error)[]> {
  return writeTransaction(runtime.sql, async (tx) => {
    const requests = claims.map((claim) => ({ ...claim, source: 'claim' }));
    const outcomes = await issueCoupons(tx, requests, { now: runtime.now(), levels });
    return { value: outcomes, last: record?.(tx, outcomes) ?? [] };
  });
}
