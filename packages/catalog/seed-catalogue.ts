import type { Locale } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Detail, Translations } from './products/product.ts';
import { type Attribute, defaultSkuKey, normalizeSpecs, type SpecGroup, skuMatrix } from './products/sku-matrix.ts';

type Texts = Record<Locale, string>;
export type CatalogueFile = {
  categories: { key: string; parent: string | null; sort: number; icon: string; name: Texts }[];
  products: {
    key: string;
    category: string;
    title: Texts;
    subtitle: Texts;
    text: Texts;
    cover: string;
    gallery: string[];
    /** Cents. */
    price: number;
    origin_price: number;
    sort: number;
    specs: { name: Texts; values: Texts[] }[];
    sku_prices?: { values: string[]; price: number }[];
    stock: [number, number];
  }[];
};
type Entry = CatalogueFile['products'][number];

async function insertCategories(tx: Transaction, file: CatalogueFile): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  const levels = [file.categories.filter((c) => c.parent === null), file.categories.filter((c) => c.parent !== null)];
  for (const level of levels) {
    const rows = level.map((category) => ({
      parent_id: category.parent === null ? 0 : ids.get(category.parent)!,
      name: category.name.en,
      icon: category.icon,
      sort: category.sort,
      translations: { 'zh-CN': { name: category.name['zh-CN'] } },
    }));
    const inserted = await tx<{ id: number }[]>`
      insert into catalog.categories (parent_id, name, icon, sort, translations)
      select parent_id, name, icon, sort, translations
      from jsonb_to_recordset(${tx.json(rows)}) as c (parent_id bigint, name text, icon text, sort int, translations jsonb)
      returning id`;
    level.forEach((category, index) => {
      ids.set(category.key, inserted[index]!.id);
    });
  }
  return ids;
}

const textDetail = (text: string): Detail => ({ version: 1, blocks: [{ id: 'text', type: 'text', props: { text } }] });

function specsOf(entry: Entry): { groups: SpecGroup[]; translations: Translations } {
  const words: Record<string, string> = {};
  for (const { name, values } of entry.specs) {
    words[name.en] = name['zh-CN'];
    for (const value of values) words[value.en] = value['zh-CN'];
  }
  const groups = normalizeSpecs(entry.specs.map((s) => ({ name: s.name.en, values: s.values.map((v) => v.en) })));
  const zh = {
    title: entry.title['zh-CN'],
    subtitle: entry.subtitle['zh-CN'],
    detail: textDetail(entry.text['zh-CN']),
    specs: words,
  };
  return { groups, translations: { 'zh-CN': zh } };
}

function priceOf(entry: Entry, attrs: readonly Attribute[]): number {
  const wanted = new Map(attrs.map((attribute) => [attribute.name, attribute.value]));
  const named = entry.sku_prices?.find((row) =>
    row.values.every((value, index) => wanted.get(entry.specs[index]?.name.en ?? '') === value),
  );
  return named?.price ?? entry.price;
}

/** Stock values that are the same on every machine, spread over the range of the entry. */
function stockOf([least, most]: [number, number], seed: number): number {
  return least + ((seed * 2_654_435_761) % (most - least + 1));
}

/** Writes a catalogue in a few statements for any number of products. The base texts are English. */
export async function seedCatalogue(tx: Transaction, file: CatalogueFile): Promise<{ products: number; skus: number }> {
  const categories = await insertCategories(tx, file);
  const ids = await tx<{ id: number }[]>`
    select nextval('catalog.products_id_seq') as id from generate_series(1, ${file.products.length})`;
  const products: object[] = [];
  const images: object[] = [];
  const skus: object[] = [];
  file.products.forEach((entry, index) => {
    const id = ids[index]!.id;
    const { groups, translations } = specsOf(entry);
    const detail = textDetail(entry.text.en);
    products.push({
      id,
      category_id: categories.get(entry.category) ?? 0,
      title: entry.title.en,
      subtitle: entry.subtitle.en,
      ...{ cover: entry.cover, price: entry.price, origin_price: entry.origin_price, sort: entry.sort },
      ...{ detail, translations, spec_schema: groups },
    });
    entry.gallery.forEach((url, sort) => {
      images.push({ product_id: id, url, sort });
    });
    skuMatrix(groups, []).forEach((sku, position) => {
      const stock = stockOf(entry.stock, index * 31 + position);
      const sku_code = `${entry.key}${sku.sku_key === defaultSkuKey ? '' : `-${position + 1}`}`.toUpperCase();
      skus.push({
        product_id: id,
        sku_key: sku.sku_key,
        sku_code,
        attrs: sku.attrs,
        price: priceOf(entry, sku.attrs),
        stock,
      });
    });
  });
  await tx`
    insert into catalog.products (id, category_id, title, subtitle, cover, price, origin_price, sort, detail, translations,
      spec_schema) overriding system value
    select id, category_id, title, subtitle, cover, price, origin_price, sort, detail, translations, spec_schema
    from jsonb_to_recordset(${tx.json(products as never)}) as p (id bigint, category_id bigint, title text, subtitle text,
      cover text, price bigint, origin_price bigint, sort int, detail jsonb, translations jsonb, spec_schema jsonb)`;
  await tx`
    insert into catalog.product_images (product_id, url, sort)
    select product_id, url, sort
    from jsonb_to_recordset(${tx.json(images as never)}) as i (product_id bigint, url text, sort int)`;
  await tx`
    insert into catalog.product_skus (product_id, sku_key, sku_code, attrs, price, stock)
    select product_id, sku_key, sku_code, attrs, price, stock
    from jsonb_to_recordset(${tx.json(skus as never)})
      as s (product_id bigint, sku_key text, sku_code text, attrs jsonb, price bigint, stock int)`;
  return { products: products.length, skus: skus.length };
}

export async function catalogueIsEmpty(sql: Queryable): Promise<boolean> {
  const rows = await sql`select id from catalog.products limit 1`;
  return rows.length === 0;
}
