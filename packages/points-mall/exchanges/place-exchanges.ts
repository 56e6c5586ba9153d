import { AppError, isoInZone } from '@tradepost/core';
import { selectDefaultAddresses } from '@tradepost/identity';
import type { CouponIssuer } from '@tradepost/module';
import { pointsType, selectBalances, writePoints } from '@tradepost/points';
import { type Transaction, writeTransaction } from '@tradepost/postgres';
import { type RecordOutcomes, type Runtime, recordEvents, timeZone } from '@tradepost/runtime';
import { mallErrors } from '../errors.ts';
import { exchangeFacts, exchangeMade } from '../mall-events.ts';
import { addSold, lockProducts } from '../products/product-store.ts';
import { snapshotOf } from './address-snapshot.ts';
import { decideExchange, type MallFacts, type PlaceExchange, takenKey } from './decide-exchanges.ts';
import type { Exchange } from './exchange.ts';
import { insertExchanges, type NewExchange, selectTaken } from './exchange-store.ts';

export type PlaceDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>;
  /** Undefined when no package with coupons runs. */
  readonly coupons: CouponIssuer | undefined;
};

/** Rolls a batch back. The requests with these indexes get their refusal, and the batch runs again without them. */
type RolledBack = Error & { readonly refusals: ReadonlyMap<number, Error> };
const rollBack = (refusals: ReadonlyMap<number, Error>): RolledBack =>
  Object.assign(new Error('the batch is rolled back'), { refusals });

type Decided = { readonly index: number; readonly exchange: NewExchange; readonly coupon_id: number };

async function readFacts(tx: Transaction, requests: readonly PlaceExchange[], day: string): Promise<MallFacts> {
  const userIds = [...new Set(requests.map(({ user_id }) => user_id))];
  // The lock is sent first, so the reads see what was committed while it waited.
  const [products, taken, balances, addresses] = await Promise.all([
    lockProducts(
      tx,
      requests.map(({ product_id }) => product_id),
    ),
    selectTaken(tx, requests, day),
    selectBalances(tx, userIds),
    selectDefaultAddresses(tx, userIds),
  ]);
  return {
    products: new Map(products.map((product) => [product.id, product])),
    taken: new Map(taken.map((row) => [takenKey(row.user_id, row.product_id), row])),
    balances,
    addresses: new Map([...addresses].map(([userId, address]) => [userId, snapshotOf(address)])),
  };
}

/** Issues the coupons of the exchanges and stores their ids there. */
async function issueCoupons(tx: Transaction, deps: PlaceDeps, decided: readonly Decided[], now: Date): Promise<void> {
  const wanted = decided.filter(({ exchange }) => exchange.product_type === 'coupon');
  if (wanted.length === 0) return;
  const known = (await deps.coupons?.named(tx, [...new Set(wanted.map(({ coupon_id }) => coupon_id))])) ?? new Map();
  const gone = wanted.filter(({ coupon_id }) => !known.has(coupon_id));
  if (gone.length > 0) throw rollBack(new Map(gone.map(({ index }) => [index, mallErrors.coupon_gone()])));
  const rows = wanted.flatMap(({ index, exchange: { user_id, qty }, coupon_id }) =>
    Array.from({ length: qty }, () => ({ index, user_id, coupon_id, source: 'points_mall' })),
  );
  const issued = await deps.coupons!.issue(
    tx,
    rows.map(({ user_id, coupon_id, source }) => ({ user_id, coupon_id, source })),
    now,
  );
  const refusals = new Map<number, Error>();
  const ids = new Map<number, number[]>();
  rows.forEach(({ index }, n) => {
    const outcome = issued[n]!;
    // The refusal has the words of the coupons' own package.
    if (outcome instanceof AppError) refusals.set(index, mallErrors.coupon_refused());
    else if (outcome instanceof Error) refusals.set(index, outcome);
    else ids.set(index, [...(ids.get(index) ?? []), outcome]);
  });
  if (refusals.size > 0) throw rollBack(refusals);
  for (const { index, exchange } of wanted) exchange.coupon_user_ids = ids.get(index)!;
}

/** Takes the points of the exchanges. A balance can have fallen since it was read: then the batch runs again. */
async function takePoints(
  tx: Transaction,
  decided: readonly Decided[],
  exchanges: readonly Exchange[],
  now: Date,
): Promise<void> {
  const outcomes = await writePoints(
    tx,
    exchanges.map(({ id, user_id, points_cost }) => ({
      ...{ user_id, points: -points_cost, related_id: id },
      type: pointsType.exchange,
      // Made when it is read: `exchangeRemarks`.
      remark: '',
      key: `points_mall:${id}`,
    })),
    now,
  );
  const refused = decided.filter((_, n) => outcomes[n] instanceof Error);
  if (refused.length === 0) return;
  const balances = await selectBalances(
    tx,
    refused.map(({ exchange }) => exchange.user_id),
  );
  const refusals = refused.map(({ index, exchange: { user_id, points_cost: cost } }): [number, Error] => [
    index,
    mallErrors.not_enough_points({ cost, balance: balances.get(user_id)! }),
  ]);
  throw rollBack(new Map(refusals));
}

/** One run of a batch. `refusals` are those of earlier runs; new ones are added. */
function runBatch(
  deps: PlaceDeps,
  requests: readonly PlaceExchange[],
  refusals: Map<number, Error>,
  record?: RecordOutcomes<Exchange>,
): Promise<(Exchange | Error)[]> {
  const { sql, settings, now: clock } = deps.runtime;
  const now = clock();
  const local = isoInZone(now, settings.get(timeZone));
  const day = local.slice(0, 10);
  const stamp = local.slice(0, 19).replaceAll(/\D/g, '');
  return writeTransaction(sql, async (tx) => {
    const outcomes: (Exchange | Error)[] = [];
    const decided: Decided[] = [];
    const facts = await readFacts(tx, requests, day);
    requests.forEach((request, index) => {
      const earlier = refusals.get(index);
      try {
        if (earlier) throw earlier;
        const exchange = decideExchange(request, facts);
        decided.push({ index, exchange, coupon_id: facts.products.get(request.product_id)!.coupon_id });
      } catch (refusal) {
        outcomes[index] = refusal as Error;
      }
    });
    if (decided.length === 0) return { value: outcomes, last: [] };
    await issueCoupons(tx, deps, decided, now);
    const [, exchanges] = await Promise.all([
      addSold(
        tx,
        decided.map(({ exchange }) => exchange),
      ),
      insertExchanges(
        tx,
        decided.map(({ exchange }) => exchange),
        { now, day, stamp },
      ),
    ]);
    await takePoints(tx, decided, exchanges, now);
    decided.forEach(({ index }, n) => {
      outcomes[index] = exchanges[n]!;
    });
    const events = recordEvents(tx, exchangeMade, exchanges.map(exchangeFacts), now);
    return { value: outcomes, last: [events, ...(record?.(tx, outcomes) ?? [])] };
  });
}

/**
 * Exchanges points for products, all requests in one transaction: it locks the products in id order, decides the requests in their
 * order, issues coupons, and writes exchanges and points. The locks are those of products, coupons and points accounts, in this
 * order. Returns the exchange or the refusal of each request. When a coupon or points are refused after the decision, the
 * batch is rolled back and runs again without that request.
 */
export async function placeExchanges(
  deps: PlaceDeps,
  requests: readonly PlaceExchange[],
  record?: RecordOutcomes<Exchange>,
): Promise<(Exchange | Error)[]> {
  const refusals = new Map<number, Error>();
  // Each further run has at least one request less.
  for (;;)
    try {
      return await runBatch(deps, requests, refusals, record);
    } catch (error) {
      if (!(error instanceof Error) || !('refusals' in error)) throw error;
      for (const [index, refusal] of (error as RolledBack).refusals) refusals.set(index, refusal);
    }
}
