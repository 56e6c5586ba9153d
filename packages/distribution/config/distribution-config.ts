import { isWholeCents, type Minor, maxMinor, toMinor, toWire } from '@tradepost/core';
import { setting } from '@tradepost/runtime';
import { z } from 'zod';

/** Rates are percentages with at most two decimals. */
export const hasBasisPoints = (percent: number) => Math.abs(percent * 100 - Math.round(percent * 100)) < 1e-6;
const percent = () => z.number().min(0).max(100).refine(hasBasisPoints, { error: 'must have at most two decimals' });

export type DistributionConfig = {
  readonly enabled: boolean;
  /** How many levels above a buyer earn a commission: 1 to 3. */
  readonly level: number;
  /** Percentages: 10 is 10 %. */
  readonly level1_rate: number;
  readonly level2_rate: number;
  readonly level3_rate: number;
  /** The smallest withdrawal, in currency units. */
  readonly min_withdraw: number;
  /** A percentage of the amount. */
  readonly withdraw_fee_rate: number;
  /** Applications become active distributors at once. */
  readonly auto_approve: boolean;
  /** An application needs the name and the identity card number. */
  readonly require_real_name: boolean;
};

const fallback: DistributionConfig = {
  ...{ enabled: true, level: 2, level1_rate: 10, level2_rate: 5, level3_rate: 2 },
  ...{ min_withdraw: 100, withdraw_fee_rate: 0, auto_approve: false, require_real_name: true },
};

/** The rates of all levels leave something of an order. */
export const ratesFit = ({ level1_rate, level2_rate, level3_rate }: DistributionConfig): boolean =>
  Math.round((level1_rate + level2_rate + level3_rate) * 100) <= 10_000;

const schema: z.ZodType<DistributionConfig> = z
  .object({
    enabled: z.boolean().default(fallback.enabled),
    level: z.int().min(1).max(3).default(fallback.level),
    level1_rate: percent().default(fallback.level1_rate),
    level2_rate: percent().default(fallback.level2_rate),
    level3_rate: percent().default(fallback.level3_rate),
    min_withdraw: z
      .number()
      .min(0)
      .max(toWire(maxMinor))
      .refine(isWholeCents, { error: 'must have at most two decimals' })
      .default(fallback.min_withdraw),
    withdraw_fee_rate: percent().default(fallback.withdraw_fee_rate),
    auto_approve: z.boolean().default(fallback.auto_approve),
    require_real_name: z.boolean().default(fallback.require_real_name),
  })
  .refine(ratesFit, { error: 'the rates of the levels must add up to at most 100' });

/** One setting, because the bound on the sum of the rates holds for all of them. */
export const distributionConfig = setting(
  'distribution.config',
  schema,
  fallback,
  'distribution: enabled, level (1 to 3), level1_rate to level3_rate and withdraw_fee_rate in percent, min_withdraw, auto_approve, require_real_name; absent keys have their defaults',
);

/** A percentage as basis points: 10 % is 1,000. */
const basisPoints = (rate: number): number => Math.round(rate * 100);

/** The rates of the levels that earn, in basis points; the first is of level 1. */
export const ratesOf = ({ level, level1_rate, level2_rate, level3_rate }: DistributionConfig): number[] =>
  [level1_rate, level2_rate, level3_rate].slice(0, level).map(basisPoints);

/** The fee of a withdrawal, rounded half up: amounts are positive. */
export const feeOf = (amount: Minor, { withdraw_fee_rate }: DistributionConfig): Minor =>
  Math.floor((amount * basisPoints(withdraw_fee_rate) + 5_000) / 10_000);

export const smallestWithdrawal = ({ min_withdraw }: DistributionConfig): Minor => toMinor(min_withdraw);
