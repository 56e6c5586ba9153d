import { type Locale, toWire } from '@tradepost/core';
import type { Attribute, SpecGroup } from './sku-matrix.ts';

export type Detail = { version: 1; blocks: { id: string; type: string; props: Record<string, unknown> }[] };
/** What a language says differently from the base text; `specs` translates names and values of attributes. */
type ProductTexts = {
  title?: string;
  subtitle?: string;
  detail?: Detail;
  specs?: Record<string, string>;
  /** Of these texts the one in the shop's language has changed since. */
  outdated?: ('title' | 'subtitle' | 'detail')[];
};
export type Translations = Partial<Record<Locale, ProductTexts>>;

/** A row of catalog.products; amounts in minor units. */
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
/** A product with what its SKUs add up to: what can be sold now, and what was sold. */
export type ProductWithTotals = Product & { sellable: number; sales: number };

/** What a card shows: `detail` may be the reader's already, `translations` only theirs. */
export type CardProduct = Omit<ProductWithTotals, 'spec_schema'>;

/** Title and the other texts in the reader's language, the base text where there is no translation. */
export function textsIn(product: Pick<Product, 'title' | 'subtitle' | 'translations'>, locale: Locale) {
  const texts = product.translations[locale];
  return { title: texts?.title || product.title, subtitle: texts?.subtitle ?? product.subtitle };
}

export function attrsIn(attrs: readonly Attribute[], translations: Translations, locale: Locale): Attribute[] {
  const words = translations[locale]?.specs;
  if (!words) return [...attrs];
  // A specification may be called "constructor": only the translator's own words count.
  const said = (word: string) => (Object.hasOwn(words, word) ? words[word]! : word);
  return attrs.map(({ name, value }) => ({ name: said(name), value: said(value) }));
}

/** The storefront's Sku: `attrs` is a JSON text because its clients parse it, `stock` what can still be sold. */
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

/** How rows become answers: language, the shop's time and the address of its files. */
export type ViewContext = { locale: Locale; iso(at: Date): string; fileUrl(path: string): string };

/** The storefront's ProductCard; `favorited` holds the products that the reader likes. */
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
