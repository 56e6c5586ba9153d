import { toMinor } from '@tradepost/core';
import type { Transaction } from '@tradepost/postgres';
import { marketingErrors } from '../errors.ts';
import { maxCoupons } from '../limits.ts';
import { changedValidity } from '../validity.ts';
import { type Coupon, type CouponFields, discountFromWire, discountToWire, levelOf } from './coupon.ts';
import type { CouponChanges } from './coupon-schemas.ts';
import { addVersions, insertCoupons, lockCoupons, lockNewCoupons, updateCoupon } from './coupon-store.ts';

/** The fields after the changes. Throws the refusal of a field. `zone` is for times without an offset. */
function changedFields(before: CouponFields, changes: CouponChanges, zone: string): CouponFields {
  const { discount, min_amount, start_at: _start, end_at: _end, ...plain } = changes;
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
  const next: CouponFields = { ...before, ...given, ...changedValidity(before, changes, zone) };
  // The unit of the discount depends on the type, so a new type reads the old discount again.
  const wire = discount ?? (next.type === before.type ? undefined : discountToWire(before));
  const fields = {
    ...next,
    min_amount: min_amount === undefined ? before.min_amount : toMinor(min_amount),
    discount: wire === undefined ? before.discount : discountFromWire(next.type, wire),
  };
  if (fields.target_type === 'vip_level' && levelOf(fields) === undefined) throw marketingErrors.invalid_level();
  return fields;
}

const blank: CouponFields = {
  ...{ name: '', type: 1, min_amount: 0, discount: 0, start_at: null, end_at: null, description: '' },
  ...{ stack_rule: 'exclusive', target_type: 'all', target_value: '', total_count: 0, per_limit: 0, status: 1 },
};

/** Adds a coupon. */
export async function createCoupon(
  tx: Transaction,
  form: CouponChanges & { discount: number },
  { zone, now }: { zone: string; now: Date },
): Promise<Coupon> {
  const fields = changedFields(blank, form, zone);
  await lockNewCoupons(tx);
  const [added] = await insertCoupons(tx, [fields], now);
  if (!added) throw marketingErrors.too_many_coupons({ max: maxCoupons });
  return added;
}

/** What a version has. A change of another field needs no new version. */
const versioned = [
  ...['name', 'type', 'min_amount', 'discount', 'start_at', 'end_at', 'description', 'stack_rule', 'total_count'],
  'per_limit',
] as const as readonly (keyof CouponFields)[];
const plainValue = (value: unknown) => (value instanceof Date ? value.getTime() : value);

/** Changes fields of a coupon. Coupons that shoppers have stay as they are. */
export async function editCoupon(
  tx: Transaction,
  id: number,
  changes: CouponChanges,
  { zone, now }: { zone: string; now: Date },
): Promise<void> {
  const [before] = await lockCoupons(tx, [id]);
  if (!before) throw marketingErrors.coupon_not_found({ id });
  const fields = changedFields(before, changes, zone);
  await updateCoupon(tx, id, fields, now);
  if (versioned.some((field) => plainValue(fields[field]) !== plainValue(before[field])))
    await addVersions(tx, [id], now);
}
