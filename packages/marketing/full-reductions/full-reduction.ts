import type { Minor } from '@tradepost/core';
import type { Validity } from '../validity.ts';

/** From `min` on, `reduce` is taken off. Minor units. */
export type Tier = { readonly min: Minor; readonly reduce: Minor };

/** The fields that staff edit. Tiers ascend. */
export type FullReductionFields = Validity & {
  readonly name: string;
  readonly tiers: readonly Tier[];
  readonly status: 0 | 1;
};
export type FullReduction = FullReductionFields & {
  readonly id: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** What the highest tier that `base` reaches takes off. 0 below the first one. */
export const reductionOf = (tiers: readonly Tier[], base: Minor): Minor =>
  tiers.findLast(({ min }) => min <= base)?.reduce ?? 0;
