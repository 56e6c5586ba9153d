import { runtimeErrors } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { OpenedSetting } from './sealed-settings.ts';
import { type Setting, type SettingRow, secretMask } from './setting.ts';

/** The settings of this process: definitions, values of the file, and values of the table. */
export class SettingValues {
  readonly #definitions: ReadonlyMap<string, Setting>;
  readonly #fixed: ReadonlyMap<string, unknown>;
  readonly #production: boolean;
  #stored: ReadonlyMap<string, unknown> = new Map();
  #unreadable: ReadonlySet<string> = new Set();

  /** Throws when a key is defined twice, and when a value of the file is invalid. */
  constructor(definitions: readonly Setting[], fixed: Readonly<Record<string, unknown>>, production = false) {
    this.#production = production;
    this.#definitions = new Map(definitions.map((definition) => [definition.key, definition]));
    if (this.#definitions.size !== definitions.length) throw new Error('two packages define the same setting');
    for (const key of Object.keys(fixed)) this.#refuseReadOnly(key);
    this.#fixed = new Map(Object.entries(fixed).map(([key, value]) => [key, this.check(key, value)]));
  }

  get<T>(of: Setting<T>): T {
    if (!this.#definitions.has(of.key)) throw new Error(`setting ${of.key} is not registered`);
    if (this.#fixed.has(of.key)) return this.#fixed.get(of.key) as T;
    return this.#stored.has(of.key) ? (this.#stored.get(of.key) as T) : of.fallback;
  }

  /** Returns the value as parsed by its schema. Refuses an invalid value. */
  check(key: string, value: unknown): unknown {
    const definition = this.#definitions.get(key);
    if (!definition) throw runtimeErrors.unknown_setting({ key });
    const parsed = definition.schema.safeParse(value);
    if (!parsed.success)
      throw runtimeErrors.invalid_setting({ key, reason: parsed.error.issues.map((i) => i.message).join('; ') });
    return parsed.data;
  }

  /** Returns a value that an operator sets, as parsed by its schema. Also refuses one that production does not use. */
  checkNew(key: string, value: unknown): unknown {
    const parsed = this.check(key, value);
    const rule = this.#production ? this.#definitions.get(key)?.notInProduction : undefined;
    if (rule?.values.includes(parsed)) throw runtimeErrors.invalid_setting({ key, reason: rule.text });
    return parsed;
  }

  refuseUnknown(key: string): void {
    if (!this.#definitions.has(key)) throw runtimeErrors.unknown_setting({ key });
  }

  /** Refuses a key that an operator cannot set, or that the file sets. */
  refuseFixed(key: string): void {
    this.#refuseReadOnly(key);
    if (this.#fixed.has(key)) throw runtimeErrors.fixed_setting({ key });
  }

  isSecret(key: string): boolean {
    return this.#definitions.get(key)?.secret === true;
  }

  /** Whether a written value is the mask that was shown instead of a secret. */
  isMask(key: string, value: unknown): boolean {
    return this.isSecret(key) && value === secretMask;
  }

  /** Replaces the values of the table. Unknown keys, invalid values and unreadable secrets are ignored. */
  store(rows: readonly OpenedSetting[], log: Log): void {
    const stored = new Map<string, unknown>();
    const unreadable = new Set(rows.filter((row) => row.unreadable).map(({ key }) => key));
    const found = [...unreadable].filter((key) => !this.#unreadable.has(key));
    if (found.length > 0)
      log.error({ keys: found }, 'stored secrets cannot be decrypted, and count as not set: tradepost doctor says why');
    this.#unreadable = unreadable;
    for (const row of rows) {
      if (!this.#definitions.has(row.key) || row.unreadable) continue;
      try {
        stored.set(row.key, this.check(row.key, row.value));
      } catch (error) {
        log.warn({ key: row.key, err: error }, 'a stored setting is not valid; its default is used');
      }
    }
    this.#stored = stored;
  }

  list(): SettingRow[] {
    return [...this.#definitions.values()]
      .map((d): SettingRow => {
        const source = this.#fixed.has(d.key) ? 'file' : this.#stored.has(d.key) ? 'table' : 'default';
        const value =
          source === 'file' ? this.#fixed.get(d.key) : source === 'table' ? this.#stored.get(d.key) : d.fallback;
        const row = { key: d.key, value, source, about: d.about, secret: d.secret === true } as const;
        return this.#unreadable.has(d.key) && source === 'default' ? { ...row, unreadable: true } : row;
      })
      .sort((a, b) => a.key.localeCompare(b.key));
  }

  #refuseReadOnly(key: string): void {
    if (this.#definitions.get(key)?.readOnly) throw runtimeErrors.read_only_setting({ key });
  }
}
