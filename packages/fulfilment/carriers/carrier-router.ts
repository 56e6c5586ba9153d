import { type CarrierDriver, missingAccount, type SettingReader } from './drivers/driver.ts';
import { carrierErrors } from './errors.ts';
import { primaryDriver, routerEnabled, secondaryDriver, slots } from './settings.ts';

export type CarrierRouter = {
  /**
   * The drivers to ask about a shipment, in this order: the one that its channel is fixed to, or else the primary and the
   * secondary driver. Drivers without an account are left out.
   */
  driversFor(channel: string): readonly CarrierDriver[];
  /** The settings that the chosen drivers lack. Empty when at least one driver can be used. */
  missing(): readonly string[];
  /** The chosen drivers, also those without an account. */
  chosen(): readonly CarrierDriver[];
  /** The refusal of a query; null when a driver can be used. `channel` is the driver that a shipment is fixed to. */
  refusal(channel?: string): Error | null;
};

/** Chooses drivers by the settings, which it reads with each call. */
export function openCarrierRouter(settings: SettingReader, drivers: readonly CarrierDriver[]): CarrierRouter {
  const named = (name: string) => drivers.find((driver) => driver.name === name || driver.aliases.includes(name));
  const driverOf = (name: string) => named(name in slots ? settings.get(slots[name as keyof typeof slots]) : name);
  const isReady = (driver: CarrierDriver) => missingAccount(driver, settings).length === 0;
  const chosen = () => {
    const both = [driverOf(settings.get(primaryDriver)), driverOf(settings.get(secondaryDriver))];
    return [...new Set(both.filter((driver) => driver !== undefined))];
  };
  const missing = () => (chosen().some(isReady) ? [] : chosen().flatMap((driver) => missingAccount(driver, settings)));
  /** A shipment that is fixed to a driver which does not run lacks that driver. */
  const lackingFor = (channel: string) => {
    if (channel === '') return missing();
    const fixed = named(channel);
    return fixed ? missingAccount(fixed, settings) : [channel];
  };
  return {
    chosen,
    missing,
    driversFor(channel) {
      const fixed = channel === '' ? undefined : named(channel);
      return (channel === '' ? chosen() : fixed ? [fixed] : []).filter(isReady);
    },
    refusal(channel = '') {
      if (!settings.get(routerEnabled)) return carrierErrors.sync_disabled();
      const lacking = lackingFor(channel);
      return lacking.length > 0 ? carrierErrors.sync_not_configured({ settings: lacking.join(', ') }) : null;
    },
  };
}
