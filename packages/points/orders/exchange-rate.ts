import type { Minor } from '@tradepost/core';
import { rateScale } from '../settings.ts';

/**
 * The discount for at most `points` points and at most `limit`, and the points that it costs. `perUnit` points are worth 1.00. The
 * discount is the most whole cents that whole points can pay. The cost is the fewest points that pay these cents.
 */
export function discountFor(points: number, limit: Minor, perUnit: number): { points: number; amount: Minor } {
  // BigInt, because the products can exceed 2^53.
  const unit = BigInt(perUnit);
  const fitting = (BigInt(limit) * unit) / 100n;
  const usable = BigInt(points) < fitting ? BigInt(points) : fitting;
  const amount = (usable * 100n) / unit;
  return { points: Number((amount * unit + 99n) / 100n), amount: Number(amount) };
}

/** `whole` x `part` / `of`, rounded down. `part` is at most `of`. */
export const shareOf = (whole: number, part: number, of: number): number =>
  of === 0 ? 0 : Number((BigInt(whole) * BigInt(part)) / BigInt(of));

/** The points that a paid amount earns, rounded down. `rate` is in points per 10,000 minor units. */
export const pointsFor = (amount: Minor, rate: number): number =>
  Number((BigInt(amount) * BigInt(rate)) / BigInt(rateScale));
