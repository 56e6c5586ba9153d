import { type Locale, toWire } from '@tradepost/core';
import type { Attribute, SpecGroup } from './sku-matrix.ts';

export type Detail = { version: 1; blocks: { id: string; type: string; props: Record<string, unknown> }[] };
/** The texts of a language that differ from the base texts. `specs` translates names and values of attributes. */
type ProductTexts = {
  title?: string;
  subtitle?: string;
  detail?: Detail;
  specs?: Record<string, string>;
  /** The fields whose text in the shop's language has changed since the translation. */
  outdated?: ('title' | 'subtitle' | 'detail')[];
};
export type Translations = Partial<Record<Locale, ProductTexts>>;

/** A row of catalog.products. Amounts are in minor units. */
export type Product = {
  id: number;
  merchant_id: number;
  category_id: number;
  title: string;
  subtitle: string;
  cover: string;
  price: number;
  origin_price: number;
  status: number;
  sort: number;
  detail: Detail;
  spec_schema: SpecGroup[];
  favorite_count: number;
  translations: Translations;
  created_at: Date;
  updated_at: Date;
};
export type Sku = {
  id: number;
  product_id: number;
  sku_key: string;
  sku_code: string;
  attrs: Attribute[];
  price: number;
  /** On hand. */
  stock: number;
  reserved_stock: number;
  sold: number;
  status: 'active' | 'inactive';
};
export type ProductImage = { id: number; product_id: number; url: string; sort: number };
/** A product with the sums over its SKUs: sellable quantity and sales. */
export type ProductWithTotals = Product & { sellable: number; sales: number };

/**
 * The data of a card. `detail` may already be in the reader's language; `translations` has the reader's language only.
 */
export type CardProduct = Omit<ProductWithTotals, 'spec_schema'>;

/** The title and other texts in the reader's language. The base text is used where there is no translation. */
export function textsIn(product: Pick<Product, 'title' | 'subtitle' | 'translations'>, locale: Locale) {
  const texts = product.translations[locale];
  return { title: texts?.title || product.title, subtitle: texts?.subtitle ?? product.subtitle };
}

export function attrsIn(attrs: readonly Attribute[], translations: Translations, locale: Locale): Attribute[] {
  const words = translations[locale]?.specs;
  if (!words) return [...attrs];
  // A specification may be called "constructor", so only own properties count.
  const said = (word: string) => (Object.hasOwn(words, word) ? words[word]! : word);
  return attrs.map(({ name, value }) => ({ name: said(name), value: said(value) }));
}

/** The storefront's SKU. `attrs` is a JSON text, because clients parse it. `stock` is the sellable quantity. */
export function skuView(
  sku: Sku,
  translations: Translations,
  locale: Locale,
  sellable = sku.stock - sku.reserved_stock,
) {
  return {
    id: sku.id,
    product_id: sku.product_id,
    attrs: JSON.stringify(attrsIn(sku.attrs, translations, locale)),
    price: toWire(sku.price),
    stock: sellable,
    sku_code: sku.sku_code,
    sku_key: sku.sku_key,
    status: sku.status,
  };
}

const nothing: ReadonlySet<number> = new Set();

/** The context in which rows become answers: language, time zone of the shop, address of its files. */
export type ViewContext = { locale: Locale; iso(at: Date): string; fileUrl(path: string): string };

/** The storefront's ProductCard. `favorited` contains the products that the reader marked. */
export function productCard(product: CardProduct, view: ViewContext, favorited: ReadonlySet<number> = nothing) {
  return {
    id: product.id,
    merchant_id: product.merchant_id,
    category_id: product.category_id,
    ...textsIn(product, view.locale),
    cover: view.fileUrl(product.cover),
    price: toWire(product.price),
    origin_price: toWire(product.origin_price),
    stock: product.sellable,
    sales: product.sales,
    favorite_count: product.favorite_count,
    status: product.status,
    sort: product.sort,
    detail: product.translations[view.locale]?.detail ?? product.detail,
    is_favorited: favorited.has(product.id),
    created_at: view.iso(product.created_at),
    updated_at: view.iso(product.updated_at),
  };
}
