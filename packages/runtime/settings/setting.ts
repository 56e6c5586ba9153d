import type { Localized } from '@tradepost/core';
import type { z } from 'zod';

/** A page of the configuration centre: settings that the console shows together, under the name of a plugin. */
export type ConfigPage = {
  readonly plugin: string;
  readonly title: Localized;
  /** The position among the pages of all packages. */
  readonly sort: number;
};

/** How the configuration centre shows a setting. A package declares it with the setting. */
export type SettingField = {
  readonly page: ConfigPage;
  readonly label: Localized;
  /** The position on the page. Fields without one follow, in the order in which their packages list them. */
  readonly sort?: number;
  /** The key on the wire. Default: the key of the setting without the plugin before it. */
  readonly key?: string;
  /** Values to choose from. A value without a label is shown as it is. */
  readonly choices?: readonly string[];
  readonly choiceLabels?: Readonly<Record<string, Localized>>;
  /** A text of several lines. */
  readonly multiline?: boolean;
  readonly placeholder?: string;
  /** The plugin does not work without it. */
  readonly required?: boolean;
  /** What a value must be, where the schema has a message of its own. */
  readonly rule?: Localized;
  /**
   * The shop sends requests to this address, so staff cannot enter one in a private network. Hosts that match `trusted` are not
   * checked.
   */
  readonly serviceAddress?: { readonly trusted?: RegExp };
  /** The values that staff can enter. Commands and the configuration file can set all values of the schema. */
  readonly staffRule?: { readonly allows: (value: string) => boolean; readonly text: Localized };
};

/** One shop setting. A package owns it. */
export type Setting<T = unknown> = {
  readonly key: string;
  readonly schema: z.ZodType<T>;
  readonly fallback: T;
  readonly about: string;
  /** Stored encrypted, and masked wherever settings are shown. */
  readonly secret?: boolean;
  /** The program records this value itself. Neither an operator nor the configuration file sets it. */
  readonly readOnly?: boolean;
  /**
   * Values that a shop in production does not use. They are refused when they are set. One that is stored already stays, and the
   * doctor reports it.
   */
  readonly notInProduction?: { readonly values: readonly T[]; readonly text: string };
  readonly field?: SettingField;
};

export const setting = <T>(
  key: string,
  schema: z.ZodType<T>,
  fallback: NoInfer<T>,
  about: string,
  options: Pick<Setting<NoInfer<T>>, 'secret' | 'readOnly' | 'notInProduction' | 'field'> = {},
): Setting<T> => ({ key, schema, fallback, about, ...options });

/**
 * Shown instead of a secret, whatever its length. A client that sends it back leaves the secret unchanged.
 */
export const secretMask = '***';

export type SettingRow = {
  key: string;
  value: unknown;
  source: 'default' | 'table' | 'file';
  about: string;
  secret: boolean;
  /** A stored secret cannot be decrypted. `value` is the default. */
  unreadable?: boolean;
};
