import type { CouponIssue } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import { recordEvents } from '@tradepost/runtime';
import { type Coupon, levelOf } from '../coupons/coupon.ts';
import { lockCoupons } from '../coupons/coupon-store.ts';
import { marketingErrors } from '../errors.ts';
import { couponIssued, type IssuedFacts } from '../marketing-events.ts';
import { hasEnded, hasStarted } from '../validity.ts';
import { countOwn, type IssuedRow, insertUserCoupons, pairKey } from './issue-store.ts';
import { type FindLevels, selectBuyers } from './target-store.ts';

/** Whether a coupon is for a shopper. */
type Targets = (coupon: Pick<Coupon, 'target_type' | 'target_value'>, userId: number) => boolean;

/** Reads for these shoppers what the targets of these coupons ask: at most two statements. */
async function readTargets(
  tx: Transaction,
  coupons: readonly Coupon[],
  of: { userIds: readonly number[]; levels: FindLevels; now: Date },
): Promise<Targets> {
  const { userIds, levels, now } = of;
  const asks = new Set(coupons.map(({ target_type }) => target_type));
  const [buyers, levelsOf] = await Promise.all([
    asks.has('new_user') ? selectBuyers(tx, userIds) : new Set<number>(),
    (asks.has('vip_level') ? levels()?.levelsOf(tx, userIds, now) : null) ?? new Map<number, number>(),
  ]);
  return ({ target_type, target_value }, userId) => {
    if (target_type === 'new_user') return !buyers.has(userId);
    if (target_type === 'vip_level') return levelsOf.get(userId) === (levelOf({ target_value }) ?? null);
    return true;
  };
}

type Decision = { readonly now: Date; readonly source: string; readonly targets: Targets };

/** The refusal of one coupon for one shopper, or null. Counts are those before it. */
function refusalOf(
  coupon: Coupon | undefined,
  request: CouponIssue,
  counts: { issued: number; own: number },
  { now, source, targets }: Decision,
): Error | null {
  if (!coupon) return marketingErrors.claim_not_found();
  if (coupon.status !== 1) return marketingErrors.claim_disabled();
  // Packages that give coupons away may do so before the coupon is valid.
  if (source === 'claim' && !hasStarted(coupon, now)) return marketingErrors.claim_not_started();
  if (hasEnded(coupon, now)) return marketingErrors.claim_ended();
  if (!targets(coupon, request.user_id)) return marketingErrors.claim_not_for_shopper();
  if (coupon.total_count > 0 && counts.issued >= coupon.total_count) return marketingErrors.claim_sold_out();
  if (coupon.per_limit > 0 && counts.own >= coupon.per_limit)
    return marketingErrors.claim_limit_reached({ max: coupon.per_limit });
  return null;
}

/** The ids of written coupons for their requests, in order: coupons of the same shopper are alike. */
function idsOf(accepted: readonly CouponIssue[], issued: readonly IssuedRow[]): number[] {
  const byPair = Map.groupBy(issued, pairKey);
  return accepted.map((request) => byPair.get(pairKey(request))!.shift()!.id);
}

/** Records `coupon.issued` for each row. */
export async function recordIssued(tx: Transaction, facts: readonly IssuedFacts[], now: Date): Promise<void> {
  if (facts.length > 0) await recordEvents(tx, couponIssued, facts, now);
}

/**
 * Issues one coupon for each row, in the order of the rows, in at most six statements. Returns for each row the id of the coupon
 * of the shopper, or its refusal. The coupons are locked first, so their limits hold. `levels` is given when the target of a
 * coupon counts, as for claims.
 */
export async function issueCoupons(
  tx: Transaction,
  requests: readonly CouponIssue[],
  { now, levels }: { now: Date; levels: FindLevels | null },
): Promise<(number | Error)[]> {
  if (requests.length === 0) return [];
  const coupons = await lockCoupons(tx, [...new Set(requests.map(({ coupon_id }) => coupon_id))]);
  const byId = new Map(coupons.map((coupon) => [coupon.id, coupon]));
  const userIds = [...new Set(requests.map(({ user_id }) => user_id))];
  const [own, targets] = await Promise.all([
    countOwn(tx, requests),
    levels ? readTargets(tx, coupons, { userIds, levels, now }) : (): boolean => true,
  ]);
  const issuedOf = new Map(coupons.map(({ id, claimed_count }) => [id, claimed_count]));
  const accepted: CouponIssue[] = [];
  const outcomes = requests.map((request): Error | null => {
    const { coupon_id } = request;
    const counts = { issued: issuedOf.get(coupon_id) ?? 0, own: own.get(pairKey(request)) ?? 0 };
    const refusal = refusalOf(byId.get(coupon_id), request, counts, { now, source: request.source, targets });
    if (refusal) return refusal;
    issuedOf.set(coupon_id, counts.issued + 1);
    own.set(pairKey(request), counts.own + 1);
    accepted.push(request);
    return null;
  });
  if (accepted.length === 0) return outcomes as Error[];
  const rows = accepted.map(({ coupon_id, user_id, source }) => {
    const { version_id, end_at } = byId.get(coupon_id)!;
    return { coupon_id, version_id, user_id, source, end_at };
  });
  const ids = idsOf(accepted, await insertUserCoupons(tx, rows, now));
  const facts = accepted.map(({ coupon_id, user_id, source }, index) => ({
    ...{ user_coupon_id: ids[index]!, coupon_id, coupon_name: byId.get(coupon_id)!.name, user_id, source },
  }));
  await recordIssued(tx, facts, now);
  let next = 0;
  return outcomes.map((refusal) => refusal ?? ids[next++]!);
}
