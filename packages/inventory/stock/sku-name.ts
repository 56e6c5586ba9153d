import { type Attribute, attrsIn, textsIn } from '@tradepost/catalog';
import type { Locale } from '@tradepost/core';
import type { Queryable, Statement } from '@tradepost/postgres';

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

/** The texts of a JSON array, without its punctuation. */
const textsOf = (sql: Queryable, array: Statement) => sql`translate(${array}::text, '[]"', '')`;

/** Ids of the SKUs a keyword means: by id, or because each word of it is in their names in any language or in their code. */
export function skuIdsByKeyword(sql: Queryable, keyword: string): Statement {
  const words = keyword
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
  const id = /^\d{1,15}$/.test(keyword) ? Number(keyword) : null;
  const values = sql`jsonb_path_query_array(k.attrs, '$[*].value')`;
  const titles = sql`jsonb_path_query_array(p.translations, '$.*.title')`;
  const translated = sql`
    jsonb_path_query_array(p.translations, '$.*.specs.keyvalue() ? (@.key == $own[*]).value',
      jsonb_build_object('own', ${values}), true)`;
  return sql`
    select k.id from catalog.sku_stock k join catalog.product_names p on p.id = k.product_id
    where k.id = ${id}::bigint
      or concat_ws(' ', p.title, k.sku_code, ${textsOf(sql, values)},
        case when p.translations <> '{}' then ${textsOf(sql, titles)} || ' ' || ${textsOf(sql, translated)} end)
        ilike all (${words}::text[])`;
}
