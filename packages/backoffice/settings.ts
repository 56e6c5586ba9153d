import { text } from '@tradepost/http';
import { type Setting, setting } from '@tradepost/runtime';
import { keeps, type SiteKeyName, siteKeyNames, siteKeys } from './site/site-keys.ts';

/**
 * One setting per key, so that two administrators who save different keys do not overwrite each other. null means the
 * default text.
 */
export const siteSettings = Object.fromEntries(
  siteKeyNames.map((key) => [
    key,
    setting<string | null>(
      `site.${key}`,
      text(siteKeys[key].max)
        .trim()
        .refine((value) => keeps(siteKeys[key], value), { error: `must be a ${siteKeys[key].rule}` })
        .nullable(),
      null,
      `${siteKeys[key].about}; null is the default, in the reader's language`,
    ),
  ]),
) as Record<SiteKeyName, Setting<string | null>>;

export const backofficeSettings: readonly Setting<string | null>[] = Object.values(siteSettings);
