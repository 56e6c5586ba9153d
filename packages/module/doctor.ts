import type { Sql } from '@tradepost/postgres';
import type { LoadedConfig, SecretsStatus, Setting } from '@tradepost/runtime';
import type { Findings } from './finding.ts';
import type { SettingReader, StoredSettings } from './settings-in.ts';

/** A section of the output of `tradepost doctor`. Several packages can have checks in one area. */
export type DoctorArea = {
  readonly name: string;
  /** The position in the output, over all packages. */
  readonly sort: number;
  /** False when the area is left out. */
  readonly applies?: (facts: DoctorFacts) => boolean;
  /** The line for an area without errors. Absent when the checks print such a line themselves. */
  readonly allClear?: string;
};

/** A check of `tradepost doctor`. It runs when the database has all migrations of this version, and changes nothing. */
export type DoctorCheck = {
  /** The name of a check that is created for the modules that run, because such checks are different objects. */
  readonly name?: string;
  readonly area: DoctorArea;
  readonly check: (facts: DoctorFacts, findings: Findings) => void | Promise<void>;
};

export type DoctorFacts = {
  readonly config: LoadedConfig['config'];
  /** The source of each value of the configuration. */
  readonly sources: LoadedConfig['sources'];
  readonly sql: Sql;
  /** The settings that a start would use. */
  readonly settings: SettingReader;
  /** The rows of the settings table, decrypted. */
  readonly stored: StoredSettings;
  /** The key file of stored secrets, and the keys that the database needs. */
  readonly secrets: SecretsStatus;
  /** The settings of the runtime package and of the modules that run. */
  readonly definitions: readonly Setting[];
};

/** Options that are convenient in development and unsafe in a shop. Each one is an error in production. */
export const developmentArea: DoctorArea = {
  name: 'development',
  sort: 30,
  applies: ({ config }) => config.production,
  allClear: 'no option for development is on',
};
