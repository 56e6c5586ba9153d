/** The languages of messages and labels. */
export const locales = ['en', 'zh-CN'] as const;
export type Locale = (typeof locales)[number];
export type Localized = Readonly<Record<Locale, string>>;

function known(tag: string): Locale | undefined {
  const lower = tag.trim().toLowerCase();
  if (lower === 'zh' || lower.startsWith('zh-')) return 'zh-CN';
  if (lower === 'en' || lower.startsWith('en-')) return 'en';
  return undefined;
}

/**
 * Chooses by `?lang=`, then by Accept-Language with its qualities. Unknown languages are ignored. `fallback` is the
 * language of the shop.
 */
export function negotiateLocale(
  lang: string | null | undefined,
  acceptLanguage: string | null | undefined,
  fallback: Locale,
): Locale {
  if (lang) {
    const chosen = known(lang);
    if (chosen) return chosen;
  }
  if (!acceptLanguage || acceptLanguage === '*') return fallback;
  let best: Locale | undefined;
  let bestQuality = 0;
  // The length is bounded: a client may send a header of thousands of entries.
  for (const entry of acceptLanguage.slice(0, 512).split(',')) {
    const [tag = '', ...parameters] = entry.split(';');
    const locale = known(tag);
    if (!locale) continue;
    const q = parameters.map((p) => p.trim()).find((p) => p.startsWith('q='));
    const quality = q ? Number(q.slice(2)) : 1;
    if (quality > bestQuality) {
      best = locale;
      bestQuality = quality;
    }
  }
  return best ?? fallback;
}

/** Replaces each `{name}` of a message by its value. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}
