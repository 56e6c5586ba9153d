import { randomInt } from 'node:crypto';
import type { Minor } from '@tradepost/core';
import type { Bargain } from '../bargain.ts';

type CutBounds = Pick<Bargain, 'current_price' | 'floor_price' | 'min_cut' | 'max_cut' | 'max_helpers' | 'help_count'>;

/**
 * The cut of the next helper of an open bargain, in minor units: random between the smallest and the largest cut, at most what is
 * left above the floor. The last helper who is allowed cuts to the floor. `random` returns an integer from `min` to `max`.
 */
export function nextCut(
  bargain: CutBounds,
  random = (min: number, max: number): number => randomInt(min, max + 1),
): Minor {
  const { current_price, floor_price, min_cut, max_cut, max_helpers, help_count } = bargain;
  const left = current_price - floor_price;
  return help_count + 1 >= max_helpers ? left : Math.min(left, random(min_cut, max_cut));
}
