import { toMinor, toWire } from '@tradepost/core';
import type { ChangeActor } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { distributionErrors } from '../errors.ts';
import { type DistributionConfig, distributionConfig, ratesFit } from './distribution-config.ts';

/** A client that calculates sends 7.000000000000001 for 7. */
const rounded = (value: unknown) => (typeof value === 'number' ? toWire(toMinor(value)) : value);

/**
 * Changes the given keys of the configuration, its numbers rounded to two decimals, and returns all of them. Concurrent changes
 * run one after the other.
 */
export async function saveConfig(
  { settings }: Pick<Runtime, 'settings'>,
  changes: Partial<DistributionConfig>,
  author: { by: string; actor: ChangeActor | null },
): Promise<DistributionConfig> {
  const given = Object.fromEntries(
    Object.entries(changes).flatMap(([key, value]) => (value === undefined ? [] : [[key, rounded(value)]])),
  );
  return settings.update(
    distributionConfig,
    (before) => {
      const after = { ...before, ...given };
      if (!ratesFit(after)) throw distributionErrors.rates_too_high();
      return after;
    },
    author,
  );
}
