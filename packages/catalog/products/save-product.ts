import { type Locale, toMinor } from '@tradepost/core';
import type { Sql, Transaction } from '@tradepost/postgres';
import type { z } from 'zod';
import { catalogErrors } from '../errors.ts';
import { maxSkus } from '../limits.ts';
import type { productCreateBody, productUpdateBody } from '../schemas.ts';
import { productTexts, savedTexts } from '../shop-texts.ts';
import { announceStock, changedStock, withoutStock } from '../stock-ownership/enforce-stock-owner.ts';
import type { StockOwner } from '../stock-ownership/stock-owner.ts';
import type { Detail, Product, Sku } from './product.ts';
import {
  holdCategory,
  insertProduct,
  lockProduct,
  type ProductFields,
  replaceImages,
  type SkuWrite,
  updateProduct,
  writeSkus,
} from './product-store.ts';
import { defaultSkuKey, type MatrixSku, normalizeSpecs, type SpecGroup, skuMatrix } from './sku-matrix.ts';

type CreateBody = z.output<typeof productCreateBody>;
type UpdateBody = z.output<typeof productUpdateBody>;
export type SkuDiff = { added: number; kept: number; inactivated: number };

const emptyDetail: Detail = { version: 1, blocks: [] };

function overridesOf(body: UpdateBody) {
  return (body.sku_overrides ?? []).map((o) => ({
    sku_key: o.sku_key,
    ...(o.sku_code !== undefined ? { sku_code: o.sku_code } : {}),
    ...(o.price !== undefined ? { price: toMinor(o.price) } : {}),
    ...(o.stock !== undefined ? { stock: o.stock } : {}),
  }));
}

type TextFields = Pick<ProductFields, 'title' | 'subtitle' | 'detail' | 'translations'>;

/** The texts after a save. A plain field is the text of the shop's language. */
function textFieldsOf(given: UpdateBody['product'], before: ProductFields | null, shop: Locale): Partial<TextFields> {
  const { title, subtitle, detail, translations } = given ?? {};
  const stored = before && {
    base: { title: before.title, subtitle: before.subtitle, detail: before.detail },
    translations: before.translations,
  };
  const saved = savedTexts(stored, { fields: { title, subtitle, detail }, translations }, shop, productTexts);
  return { ...saved.base, translations: saved.translations };
}

/** The fields of a product after a save. `texts` are the texts after the save. Absent fields stay unchanged. */
export function fieldsOf(
  given: UpdateBody['product'],
  before: ProductFields | null,
  texts: { [K in keyof TextFields]?: TextFields[K] | undefined },
): ProductFields {
  const base = before ?? {
    title: '',
    subtitle: '',
    cover: '',
    price: 0,
    origin_price: 0,
    category_id: 0,
    status: 1,
    sort: 0,
    detail: emptyDetail,
    translations: {},
  };
  return {
    title: texts.title ?? base.title,
    subtitle: texts.subtitle ?? base.subtitle,
    cover: given?.cover ?? base.cover,
    price: given?.price !== undefined ? toMinor(given.price) : base.price,
    origin_price: given?.origin_price !== undefined ? toMinor(given.origin_price) : base.origin_price,
    category_id: given?.category_id ?? base.category_id,
    status: given?.status ?? base.status,
    sort: given?.sort ?? base.sort,
    detail: texts.detail ?? base.detail,
    translations: texts.translations ?? base.translations,
  };
}

/**
 * The new matrix compared with the existing SKUs. A kept SKU keeps the values that no override sets. A new SKU gets the
 * product's price. A price of 0 in an override means not set.
 */
export function plannedSkus(
  matrix: readonly MatrixSku[],
  before: readonly Sku[],
  price: number,
  defaultStock: number | undefined,
): SkuWrite[] {
  const known = new Map(before.map((sku) => [sku.sku_key, sku]));
  const count = before.length + matrix.filter((sku) => !known.has(sku.sku_key)).length;
  if (count > maxSkus) throw catalogErrors.too_many_former_skus({ count, max: maxSkus });
  return matrix.map((sku) => {
    const old = known.get(sku.sku_key);
    const isDefault = sku.sku_key === defaultSkuKey;
    const stock = sku.stock ?? (isDefault ? defaultStock : undefined) ?? old?.stock ?? 0;
    if (old && stock < old.reserved_stock)
      throw catalogErrors.stock_below_reserved({ sku_key: sku.sku_key, reserved: old.reserved_stock });
    return {
      sku_key: sku.sku_key,
      sku_code: sku.sku_code ?? old?.sku_code ?? '',
      attrs: sku.attrs,
      // The default SKU always has the price of the product.
      price: sku.price || (isDefault ? price : old?.price || price),
      stock,
    };
  });
}

/** Refuses a product on sale when its price or the price of an active SKU is 0. */
export function checkPriced(
  fields: Pick<ProductFields, 'status' | 'price'>,
  activeSkus: readonly { sku_key: string; price: number }[],
): void {
  if (fields.status !== 1) return;
  const free = activeSkus.find((sku) => sku.price === 0);
  if (fields.price === 0 || free)
    throw catalogErrors.price_missing({
      field: fields.price === 0 ? 'product.price' : `sku_overrides ${free?.sku_key}`,
    });
}

function diffOf(before: readonly Sku[], after: readonly SkuWrite[]): SkuDiff {
  const known = new Set(before.map((sku) => sku.sku_key));
  const wanted = new Set(after.map((sku) => sku.sku_key));
  return {
    added: after.filter((sku) => !known.has(sku.sku_key)).length,
    kept: after.filter((sku) => known.has(sku.sku_key)).length,
    inactivated: before.filter((sku) => sku.status === 'active' && !wanted.has(sku.sku_key)).length,
  };
}

async function checkCategory(tx: Transaction, id: number): Promise<void> {
  if (id > 0 && !(await holdCategory(tx, id))) throw catalogErrors.category_not_found();
}

const sortedImages = (images: readonly { url: string; sort?: number | undefined }[]) =>
  images.map((image, index) => ({ url: image.url, sort: image.sort ?? index }));

/** Creates a product with its SKU matrix, completely or not at all. */
export async function createProduct(
  sql: Sql,
  given: CreateBody,
  stockOwner: StockOwner,
  shop: Locale,
): Promise<{ id: number; sku_diff: SkuDiff }> {
  const body = stockOwner.editable ? given : withoutStock(given);
  const fields = fieldsOf(body.product, null, textFieldsOf(body.product, null, shop));
  const specs = normalizeSpecs(body.spec_schema ?? []);
  const skus = plannedSkus(skuMatrix(specs, overridesOf(body)), [], fields.price, body.product.stock);
  checkPriced(fields, skus);
  return sql.begin(async (tx) => {
    await checkCategory(tx, fields.category_id);
    const id = await insertProduct(tx, fields, specs);
    const stored = await writeSkus(tx, id, skus);
    if (body.images?.length) await replaceImages(tx, id, sortedImages(body.images));
    await announceStock(tx, stockOwner, stored);
    return { id, sku_diff: diffOf([], skus) };
  });
}

/** The SKU matrix of an update, or null when it does not change the SKUs. */
function askedMatrix(
  body: UpdateBody,
  product: Product,
  skus: readonly Sku[],
): { specs: SpecGroup[]; matrix: MatrixSku[] } | null {
  const isSimple = product.spec_schema.length === 0;
  const touchesDefault = isSimple && (body.product?.stock !== undefined || body.product?.price !== undefined);
  if (!body.spec_schema && !body.sku_overrides && !touchesDefault) return null;
  const specs = body.spec_schema ? normalizeSpecs(body.spec_schema) : product.spec_schema;
  const matrix = skuMatrix(specs, overridesOf(body));
  // Without a new schema, SKUs that an earlier schema made inactive stay inactive.
  const active = new Set(skus.filter((sku) => sku.status === 'active').map((sku) => sku.sku_key));
  return { specs, matrix: body.spec_schema ? matrix : matrix.filter((sku) => active.has(sku.sku_key)) };
}

/** Changes the parts that the body contains. */
export async function editProduct(
  tx: Transaction,
  id: number,
  given: UpdateBody,
  stockOwner: StockOwner,
  shop: Locale,
): Promise<SkuDiff> {
  const body = stockOwner.editable ? given : withoutStock(given);
  const locked = await lockProduct(tx, id);
  if (!locked) throw catalogErrors.product_not_found();
  const { product, skus } = locked;
  const fields = fieldsOf(body.product, product, textFieldsOf(body.product, product, shop));
  if (fields.category_id !== product.category_id) await checkCategory(tx, fields.category_id);
  const asked = askedMatrix(body, product, skus);
  const active = skus.filter((sku) => sku.status === 'active');
  const planned = asked && plannedSkus(asked.matrix, skus, fields.price, body.product?.stock);
  checkPriced(fields, planned ?? active);
  await updateProduct(tx, id, fields, asked?.specs ?? product.spec_schema);
  if (body.images) await replaceImages(tx, id, sortedImages(body.images));
  if (!planned) return { added: 0, kept: active.length, inactivated: 0 };
  const stored = await writeSkus(tx, id, planned);
  await announceStock(tx, stockOwner, changedStock(skus, stored));
  return diffOf(skus, planned);
}
