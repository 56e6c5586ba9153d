import type { ChangeActor } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { distributionErrors } from '../errors.ts';
import { type DistributionConfig, distributionConfig, ratesFit } from './distribution-config.ts';

/** Changes the given keys of the configuration, and returns all of them. Concurrent changes run one after the other. */
export async function saveConfig(
  { settings }: Pick<Runtime, 'settings'>,
  changes: Partial<DistributionConfig>,
  author: { by: string; actor: ChangeActor | null },
): Promise<DistributionConfig> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
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
