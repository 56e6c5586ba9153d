import { type Attribute, attrsIn, textsIn } from '@tradepost/catalog';
import type { Locale } from '@tradepost/core';
import type { Queryable } from '@tradepost/runtime';

type Translations = Parameters<typeof attrsIn>[1];
/** What a SKU is called by; all null where the catalogue does not know it any more. */
export type SkuTexts = {
  title: string | null;
  sku_code: string | null;
  attrs: Attribute[] | null;
  /** The reader's language only, without page contents. */
  translations: Translations | null;
};

/** Columns of `SkuTexts` from SKU `k` of product `p`. */
export const skuTexts = (sql: Queryable, locale: Locale) => sql`
  p.title, k.sku_code, k.attrs,
  jsonb_build_object(${locale}::text, p.translations -> ${locale}::text #- '{detail}') as translations`;

/** "Enamel mug (Cream, L)" in the reader's language. */
export function skuName({ title, attrs, translations }: SkuTexts, skuId: number, locale: Locale): string {
  if (title === null) return `SKU ${skuId}`;
  const texts = textsIn({ title, subtitle: '', translations: translations ?? {} }, locale);
  const values = attrsIn(attrs ?? [], translations ?? {}, locale).map((attr) => attr.value);
  return values.length > 0 ? `${texts.title} (${values.join(', ')})` : texts.title;
}

/**
 * Whether SKU `k` of product `p` is meant by a keyword: its id, or each word of it is in the names it has in any language,
 * or in its code.
 */
export function skuNameHolds(sql: Queryable, keyword: string) {
  const words = keyword
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
  const id = /^\d{1,15}$/.test(keyword) ? Number(keyword) : null;
  return sql`(
    k.id = ${id}::bigint
    or concat_ws(' ', p.title, k.sku_code,
      (select string_agg(a ->> 'value', ' ') from jsonb_array_elements(k.attrs) as a),
      (select string_agg(concat_ws(' ', l.texts ->> 'title',
          (select string_agg(l.texts -> 'specs' ->> (a ->> 'value'), ' ') from jsonb_array_elements(k.attrs) as a)), ' ')
        from jsonb_each(p.translations) as l (language, texts))) ilike all (${words}::text[]))`;
}
