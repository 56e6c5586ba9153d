import { toMinor } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { marketingErrors } from '../errors.ts';
import { maxEnabledReductions, maxFullReductions } from '../limits.ts';
import { changedValidity, hasEnded } from '../validity.ts';
import type { FullReduction, FullReductionFields, Tier } from './full-reduction.ts';
import type { ReductionChanges } from './full-reduction-schemas.ts';
import {
  countFullReductions,
  insertFullReduction,
  lockFullReductions,
  selectFullReduction,
  updateFullReduction,
} from './full-reduction-store.ts';

type At = { readonly zone: string; readonly now: Date };

/** The tiers in minor units. Throws the refusal of tiers that do not ascend or take off more than their `min`. */
function tiersIn(given: readonly { min: number; reduce: number }[]): Tier[] {
  const tiers = given.map(({ min, reduce }) => ({ min: toMinor(min), reduce: toMinor(reduce) }));
  if (tiers.some(({ min, reduce }) => reduce === 0 || reduce > min)) throw marketingErrors.reduce_above_min();
  const falls = (tier: Tier, before: Tier | undefined) =>
    before !== undefined && (tier.min <= before.min || tier.reduce <= before.reduce);
  if (tiers.some((tier, index) => falls(tier, tiers[index - 1]))) throw marketingErrors.tiers_not_ascending();
  return tiers;
}

const changedFields = (before: FullReductionFields, changes: ReductionChanges, zone: string): FullReductionFields => ({
  name: changes.name ?? before.name,
  status: changes.status ?? before.status,
  tiers: changes.tiers ? tiersIn(changes.tiers) : before.tiers,
  ...changedValidity(before, changes, zone),
});

const counts = ({ status, ...times }: FullReductionFields, now: Date) => status === 1 && !hasEnded(times, now);

/** Throws the refusal when one more would be enabled than may be. The caller has the lock. */
async function refuseTooMany(tx: Transaction, of: { added: boolean; enabled: boolean; now: Date }): Promise<void> {
  const present = await countFullReductions(tx, of.now);
  if (of.added && present.all >= maxFullReductions)
    throw marketingErrors.too_many_reductions({ max: maxFullReductions });
  if (of.enabled && present.enabled >= maxEnabledReductions)
    throw marketingErrors.too_many_enabled({ max: maxEnabledReductions });
}

const blank: FullReductionFields = { name: '', tiers: [], status: 1, start_at: null, end_at: null };

/** Adds a full reduction. */
export async function createFullReduction(
  tx: Transaction,
  form: ReductionChanges,
  { zone, now }: At,
): Promise<FullReduction> {
  const fields = changedFields(blank, form, zone);
  await lockFullReductions(tx);
  await refuseTooMany(tx, { added: true, enabled: counts(fields, now), now });
  return insertFullReduction(tx, fields, now);
}

/** Changes fields of a full reduction. Orders that were placed keep their discounts. */
export async function editFullReduction(
  tx: Transaction,
  id: number,
  changes: ReductionChanges,
  { zone, now }: At,
): Promise<void> {
  await lockFullReductions(tx);
  const before = await selectFullReduction(tx, id);
  if (!before) throw marketingErrors.reduction_not_found({ id });
  const fields = changedFields(before, changes, zone);
  if (counts(fields, now) && !counts(before, now)) await refuseTooMany(tx, { added: false, enabled: true, now });
  await updateFullReduction(tx, id, fields, now);
}
