import type { DistributionConfig } from './distribution-config.ts';

const rateKeys = ['level1_rate', 'level2_rate', 'level3_rate', 'withdraw_fee_rate'] as const;

/** Basis points, so that 12.35 % is the fraction 0.1235. */
const toFraction = (percent: number) => Math.round(percent * 100) / 10_000;
const toPercent = (fraction: number) => Math.round(fraction * 1_000_000) / 10_000;

/** Applies a function to the rates that are there. */
const mapRates = <T extends Partial<DistributionConfig>>(config: T, of: (rate: number) => number): T => ({
  ...config,
  ...Object.fromEntries(rateKeys.flatMap((key) => (config[key] === undefined ? [] : [[key, of(config[key])]]))),
});

/** The configuration with its rates as fractions. */
export const fractionView = (config: DistributionConfig): DistributionConfig => mapRates(config, toFraction);
/** Changes with fractions as changes with percentages. A fraction has at most four decimals. */
export const percentChanges = <T extends Partial<DistributionConfig>>(changes: T): T => mapRates(changes, toPercent);
