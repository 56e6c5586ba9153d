import { isDeepStrictEqual } from 'node:util';
import { type Locale, locales } from '@tradepost/core';
import type { Product, Translations } from '../products/product.ts';
import { markOutdated, productTexts, savedTexts } from '../shop-texts.ts';
import type { Draft, TextChanges } from './csv-drafts.ts';

function changedTexts(before: Translations, changes: TextChanges): Translations {
  const after: Translations = {};
  for (const locale of locales) {
    const texts: Record<string, unknown> = { ...before[locale], ...changes[locale] };
    const left = Object.entries(texts).filter(([, text]) => text !== null);
    if (left.length > 0) after[locale] = Object.fromEntries(left);
  }
  return after;
}

type Texts = Partial<Pick<Product, 'title' | 'subtitle' | 'detail'>> & { translations: Translations };

/**
 * The texts of a product after an import. `shop` is the language of the shop. Columns have the stored texts. When the
 * file has no column for the shop's language, a changed base text also becomes the text of that language, as in the
 * editor.
 */
export function importedTexts(draft: Draft, before: Product | undefined, shop: Locale): Texts {
  const { title, subtitle, detail } = draft.fields;
  const inFile: Record<string, unknown> = { title, subtitle, detail };
  const translations = changedTexts(before?.translations ?? {}, draft.texts);
  if (!before) return { ...draft.fields, translations };
  const stored = {
    base: { title: before.title, subtitle: before.subtitle, detail: before.detail },
    translations: before.translations,
  };
  const base: Record<string, unknown> = { ...stored.base };
  const edits: Record<string, unknown> = {};
  for (const field of productTexts) {
    const text = inFile[field];
    if (text === undefined || isDeepStrictEqual(text, base[field])) continue;
    if (draft.texts[shop]?.[field] === undefined) edits[field] = text;
    else base[field] = text;
  }
  const saved = savedTexts({ base, translations }, { fields: edits }, shop, productTexts);
  const marked = markOutdated(stored, saved, shop, productTexts);
  return { ...(marked.base as typeof stored.base), translations: marked.translations as Translations };
}
