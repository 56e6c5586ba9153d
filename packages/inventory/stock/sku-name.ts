import { type Attribute, attrsIn, textsIn } from '@tradepost/catalog';
import type { Locale } from '@tradepost/core';
import type { Queryable, Statement } from '@tradepost/postgres';

type Translations = Parameters<typeof attrsIn>[1];
/** The texts that name a SKU. All are null when the catalogue does not have the SKU any more. */
export type SkuTexts = {
  title: string | null;
  sku_code: string | null;
  attrs: Attribute[] | null;
  /** The translations into the language of the request, without page contents. */
  translations: Translations | null;
};

/** Columns of `SkuTexts` from SKU `k` of product `p`. */
export const skuTexts = (sql: Queryable, locale: Locale) => sql`
  p.title, k.sku_code, k.attrs,
  jsonb_build_object(${locale}::text, p.translations -> ${locale}::text #- '{detail}') as translations`;

/** A name such as "Enamel mug (Cream, L)" in the language of the request. */
export function skuName({ title, attrs, translations }: SkuTexts, skuId: number, locale: Locale): string {
  if (title === null) return `SKU ${skuId}`;
  const texts = textsIn({ title, subtitle: '', translations: translations ?? {} }, locale);
  const values = attrsIn(attrs ?? [], translations ?? {}, locale).map((attr) => attr.value);
  return values.length > 0 ? `${texts.title} (${values.join(', ')})` : texts.title;
}

/** The strings of a JSON array as one text, without brackets and quotes. */
const textsOf = (sql: Queryable, array: Statement) => sql`translate(${array}::text, '[]"', '')`;

/**
 * A query for the ids of the SKUs that match a keyword: the id is equal, or each word is in the code or in the names in any
 * language.
 */
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
