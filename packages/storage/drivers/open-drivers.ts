import { uploadErrors } from '../errors.ts';
import { defaultDriver, enabledDrivers } from '../settings.ts';
import type { DriverRuntime, StorageDriver, StorageDriverEntry } from './driver.ts';

export type NamedDriver = StorageDriver & { readonly name: string };

export type StorageDrivers = {
  /**
   * The driver for a new file: the named one, or the default one when the name is absent. Refuses a name that no driver
   * has, a driver that is switched off, and one whose settings are incomplete.
   */
  choose(name: string | undefined): NamedDriver;
  /** The driver that stored a file, whether or not it takes new files. Null when no module has it. */
  of(name: string): NamedDriver | null;
};

/** Opens all drivers. Throws when two of them have the same name or alias. */
export function openDrivers(runtime: DriverRuntime, entries: readonly StorageDriverEntry[]): StorageDrivers {
  const byName = new Map<string, NamedDriver>();
  for (const entry of entries) {
    const driver = { name: entry.name, ...entry.open(runtime) };
    for (const name of new Set([entry.name, ...entry.aliases])) {
      if (byName.has(name)) throw new Error(`two storage drivers have the name ${name}`);
      byName.set(name, driver);
    }
  }
  return {
    choose(name = runtime.settings.get(defaultDriver)) {
      const driver = byName.get(name);
      if (!driver) throw uploadErrors.unknown_driver({ driver: name });
      const enabled = runtime.settings.get(enabledDrivers).map((one) => byName.get(one)?.name);
      if (!enabled.includes(driver.name)) throw uploadErrors.driver_off({ driver: driver.name });
      driver.ready();
      return driver;
    },
    of: (name) => byName.get(name) ?? null,
  };
}
