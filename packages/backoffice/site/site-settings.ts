import type { Locale } from '@tradepost/core';
import { fileUrls } from '@tradepost/http';
import type { Runtime, SettingAuthor, SettingRow } from '@tradepost/runtime';
import { backofficeErrors } from '../errors.ts';
import { siteSettings } from '../settings.ts';
import { keeps, type SiteKeyName, siteKeyNames, siteKeys } from './site-keys.ts';

/** The setting of the package that cancels unpaid orders. Clients edit the value in force. */
const unpaidMinutesKey = 'orders.unpaid_minutes';
/** The largest value of that setting: a week. */
const maxMinutes = 7 * 24 * 60;

type SiteValues = Record<SiteKeyName, string>;
export type SiteChanges = Partial<SiteValues> & { order_auto_cancel_minutes?: number | string | undefined };

function rowOf(runtime: Pick<Runtime, 'settings'>, key: string): SettingRow | undefined {
  return runtime.settings.list().find((row) => row.key === key);
}

/**
 * All keys with the values in force, and defaults in the reader's language. Without the orders module there are no
 * minutes.
 */
export function siteSettingsView(runtime: Pick<Runtime, 'settings' | 'config'>, request: Request, locale: Locale) {
  const values = Object.fromEntries(
    siteKeyNames.map((key) => [key, runtime.settings.get(siteSettings[key]) ?? siteKeys[key].fallback[locale]]),
  ) as SiteValues;
  const minutes = rowOf(runtime, unpaidMinutesKey)?.value;
  return {
    ...values,
    site_logo: fileUrls(request, runtime.config).absolute(values.site_logo),
    ...(typeof minutes === 'number' ? { order_auto_cancel_minutes: minutes } : {}),
  };
}

/** The stored value of a text. A form sends back the texts that it showed. A default that was shown stays a default. */
function stored(key: SiteKeyName, value: string): string | null {
  const { fallback, emptyIsDefault } = siteKeys[key];
  if (value === '' && emptyIsDefault) return null;
  return Object.values<string>(fallback).includes(value) ? null : value;
}

/** A number, or a text of a form as a number. Null for an empty value. */
function minutesIn(value: number | string | undefined): number | null {
  const text = String(value ?? '').trim();
  if (text === '') return null;
  const minutes = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (minutes < 1 || minutes > maxMinutes)
    throw backofficeErrors.minutes({ field: 'order_auto_cancel_minutes', max: maxMinutes });
  return minutes;
}

/**
 * Writes only the keys that were sent, in one statement, all or none. A key that the configuration file sets is
 * refused, unless its value is unchanged.
 */
export async function saveSiteSettings(
  runtime: Pick<Runtime, 'settings' | 'config'>,
  changes: SiteChanges,
  request: Request,
  author: SettingAuthor,
): Promise<void> {
  const { relative } = fileUrls(request, runtime.config);
  const values: Record<string, unknown> = {};
  const rows = new Map(runtime.settings.list().map((row) => [row.key, row]));
  const put = (field: string, key: string, value: unknown) => {
    const row = rows.get(key);
    if (row?.source !== 'file') values[key] = value;
    else if (row.value !== value) throw backofficeErrors.fixed_by_file({ field, key });
  };
  for (const field of siteKeyNames) {
    const value = changes[field];
    if (value === undefined) continue;
    const { rule } = siteKeys[field];
    if (rule && !keeps(siteKeys[field], value)) throw backofficeErrors[rule]({ field });
    put(field, siteSettings[field].key, stored(field, field === 'site_logo' ? relative(value) : value));
  }
  const minutes = minutesIn(changes.order_auto_cancel_minutes);
  if (minutes !== null) {
    if (!rows.has(unpaidMinutesKey)) throw backofficeErrors.no_orders();
    put('order_auto_cancel_minutes', unpaidMinutesKey, minutes);
  }
  await runtime.settings.setMany(values, author);
}
