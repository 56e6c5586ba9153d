import { isDeepStrictEqual } from 'node:util';
import { type Locale, locales } from '@tradepost/core';

/**
 * The stored texts of a product or category: a base text per field, and per language the texts that differ. The base
 * text has no particular language: readers whose language has no text of its own get it.
 *
 * In the back office a plain field (`title`, `name` ...) is the text of the shop's language (`shop.locale`), and
 * `translations` has the other languages. `outdated` of a language names the fields whose text in the shop's language
 * has changed while the text of this language stayed.
 */
export type StoredTexts = { base: Words; translations: Translated };
type Words = Readonly<Record<string, unknown>>;
type Translated = Partial<Record<Locale, Words>>;
/**
 * The texts that a client sends. An absent field stays unchanged. `translations` replaces all languages; absent, they
 * stay unchanged.
 */
export type GivenTexts = { fields: Words; translations?: Translated | undefined };

export const productTexts = ['title', 'subtitle', 'detail'] as const;
export const categoryTexts = ['name'] as const;

/** Only a subtitle may be empty. An empty title or name does not count as a text. */
const isText = (field: string, value: unknown) =>
  value !== undefined && value !== null && (value !== '' || field === 'subtitle');

/** The text that readers of the language see. */
function textIn({ base, translations }: StoredTexts, locale: Locale, field: string): unknown {
  const own = translations[locale]?.[field];
  return isText(field, own) ? own : base[field];
}

const without = (words: Words | undefined, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(words ?? {}).filter(([name]) => !fields.includes(name)));

/** The languages that have texts. */
const notEmpty = (translations: Translated): Translated =>
  Object.fromEntries(Object.entries(translations).filter(([, words]) => Object.keys(words).length > 0));

const others = (shop: Locale) => locales.filter((locale) => locale !== shop);

/**
 * The texts for a form of the back office: plain fields in the shop's language, and the differing texts of the other
 * languages.
 */
export function formTexts(stored: StoredTexts, shop: Locale, fields: readonly string[]): StoredTexts {
  const base = Object.fromEntries(fields.map((field) => [field, textIn(stored, shop, field)]));
  const translations: Translated = { [shop]: without(stored.translations[shop], [...fields, 'outdated']) };
  for (const locale of others(shop)) {
    const own = stored.translations[locale];
    const words = without(own, fields);
    for (const field of fields) {
      const text = textIn(stored, locale, field);
      if (isText(field, own?.[field]) || !isDeepStrictEqual(text, base[field])) words[field] = text;
    }
    translations[locale] = words;
  }
  return { base, translations: notEmpty(translations) };
}

/** Makes `text` the text of the shop's language. Readers of the other languages still see the same texts as before. */
function editText(stored: StoredTexts, shop: Locale, field: string, text: unknown): StoredTexts {
  const seen = textIn(stored, shop, field);
  if (isDeepStrictEqual(text, seen)) return stored;
  const translations: Translated = { ...stored.translations, [shop]: without(stored.translations[shop], [field]) };
  for (const locale of others(shop)) {
    const kept = textIn(stored, locale, field);
    if (!isDeepStrictEqual(kept, seen)) translations[locale] = { ...translations[locale], [field]: kept };
  }
  return { base: { ...stored.base, [field]: text }, translations: notEmpty(translations) };
}

/**
 * Merges the given base texts and translations. A translation in the shop's language has priority over the plain field.
 */
function replaceTranslations(
  stored: StoredTexts,
  given: Translated,
  plain: Words,
  shop: Locale,
  fields: readonly string[],
): StoredTexts {
  const base: Record<string, unknown> = { ...stored.base };
  const translations: Translated = { [shop]: without(given[shop], [...fields, 'outdated']) };
  for (const locale of others(shop)) {
    const outdated = given[locale]?.outdated ?? stored.translations[locale]?.outdated;
    translations[locale] = { ...given[locale], ...(outdated === undefined ? {} : { outdated }) };
  }
  for (const field of fields) {
    const own = given[shop]?.[field];
    base[field] = isText(field, own) ? (plain[field] ?? own) : textIn(stored, shop, field);
    if (isText(field, own) && !isDeepStrictEqual(own, base[field]))
      translations[shop] = { ...translations[shop], [field]: own };
  }
  return { base, translations: notEmpty(translations) };
}

/**
 * Marks texts that stayed while the text in the shop's language changed. Removes the mark of texts that changed or were
 * removed.
 */
export function markOutdated(
  before: StoredTexts,
  after: StoredTexts,
  shop: Locale,
  fields: readonly string[],
): StoredTexts {
  const same = (locale: Locale, field: string) =>
    isDeepStrictEqual(textIn(before, locale, field), textIn(after, locale, field));
  const translations: Translated = { ...after.translations };
  for (const locale of others(shop)) {
    const words = after.translations[locale];
    if (!words) continue;
    const marked = (words.outdated ?? []) as readonly string[];
    const outdated = fields.filter(
      (field) => isText(field, words[field]) && same(locale, field) && (!same(shop, field) || marked.includes(field)),
    );
    translations[locale] = { ...without(words, ['outdated']), ...(outdated.length > 0 ? { outdated } : {}) };
  }
  return { base: after.base, translations: notEmpty(translations) };
}

/**
 * The texts to store after a save in the back office. A repeated save has the same result. On creation (`stored` is
 * null) base texts and translations are stored as given.
 */
export function savedTexts(
  stored: StoredTexts | null,
  { fields: plain, translations }: GivenTexts,
  shop: Locale,
  fields: readonly string[],
): StoredTexts {
  if (!stored) return { base: plain, translations: translations ?? {} };
  let texts = translations ? replaceTranslations(stored, translations, plain, shop, fields) : stored;
  for (const field of fields) {
    const isGiven = plain[field] !== undefined && !isText(field, translations?.[shop]?.[field]);
    if (isGiven) texts = editText(texts, shop, field, plain[field]);
  }
  return markOutdated(stored, texts, shop, fields);
}
