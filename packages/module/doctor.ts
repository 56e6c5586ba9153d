import type { Sql } from '@tradepost/postgres';
import type { LoadedConfig, Setting } from '@tradepost/runtime';
import type { Findings } from './finding.ts';
import type { SettingReader, StoredSettings } from './settings-in.ts';

/** A section of what `tradepost doctor` prints. Several packages can have checks of one area. */
export type DoctorArea = {
  readonly name: string;
  /** Its place in the output, over all packages. */
  readonly sort: number;
  /** False where the area is left out. */
  readonly applies?: (facts: DoctorFacts) => boolean;
  /** What is said when no check of the area found an error; nothing where the checks say it themselves. */
  readonly allClear?: string;
};

/** A check that `tradepost doctor` makes on a database that is at this version. It changes nothing. */
export type DoctorCheck = {
  readonly area: DoctorArea;
  readonly check: (facts: DoctorFacts, findings: Findings) => void | Promise<void>;
};

export type DoctorFacts = {
  readonly config: LoadedConfig['config'];
  /** Where each value of the configuration comes from. */
  readonly sources: LoadedConfig['sources'];
  readonly sql: Sql;
  /** The settings that a start would find. */
  readonly settings: SettingReader;
  /** The rows of the settings table. */
  readonly stored: StoredSettings;
  /** The settings of the runtime package and of the modules that run. */
  readonly definitions: readonly Setting[];
};

/** What makes development easy and a shop unsafe: each is an error where the shop is in production. */
export const developmentArea: DoctorArea = {
  name: 'development',
  sort: 30,
  applies: ({ config }) => config.production,
  allClear: 'no convenience of development is on',
};
