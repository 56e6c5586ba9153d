import { isDeepStrictEqual } from 'node:util';
import { AppError, type Locale } from '@tradepost/core';
import type { CsvFault } from '@tradepost/csv';
import type { Product, Sku } from '../products/product.ts';
import { checkPriced, fieldsOf, plannedSkus } from '../products/save-product.ts';
import {
  type Attribute,
  type MatrixSku,
  normalizeSpecs,
  type SpecGroup,
  skuKeyOf,
  skuMatrix,
} from '../products/sku-matrix.ts';
import type { Draft, SkuLine } from './csv-drafts.ts';
import { csvFault } from './csv-faults.ts';
import type { ImageWrite, NewSku, ProductWrite, SkuChange, Stored } from './csv-store.ts';
import { importedTexts } from './import-texts.ts';

/**
 * The changes that one product of a file makes in the shop. They are planned from rows that were read; nothing is
 * written here.
 */
export type ImportPlan = {
  draft: Draft;
  id: number;
  outcome: 'created' | 'updated' | 'unchanged';
  product: ProductWrite | null;
  images: ImageWrite[] | null;
  newSkus: NewSku[];
  skuChanges: SkuChange[];
};

/** A product of the file that cannot be written. */
export type Refused = { draft: Draft; faults: CsvFault[] };

const namesOf = (attrs: readonly Attribute[]) => attrs.map((attribute) => attribute.name).join('\n');
const firstLine = (draft: Draft) => draft.skus[0]?.line ?? draft.line;

type Row = SkuLine & { sku_key: string; old: Sku | undefined; status: Sku['status'] };

/** The SKU of each line. */
function rowsOf(draft: Draft, before: readonly Sku[], faults: CsvFault[]): Row[] {
  const byKey = new Map(before.map((sku) => [sku.sku_key, sku]));
  const rows = new Map<string, Row>();
  for (const line of draft.skus) {
    let old = byKey.get(skuKeyOf(line.attrs));
    if (line.attrs.length === 0 && !old && before.length > 0) {
      const coded = before.filter((sku) => line.sku_code && sku.sku_code.toLowerCase() === line.sku_code.toLowerCase());
      if (coded.length !== 1) {
        faults.push(csvFault(line.line, 'specs', 'which_sku'));
        continue;
      }
      old = coded[0];
    }
    const sku_key = old?.sku_key ?? skuKeyOf(line.attrs);
    const twin = rows.get(sku_key);
    if (twin) {
      faults.push(csvFault(line.line, 'specs', 'repeated_sku', { line: twin.line }));
      continue;
    }
    const row: Row = {
      ...line,
      attrs: old?.attrs ?? line.attrs,
      sku_key,
      old,
      status: line.status ?? old?.status ?? 'active',
    };
    settleStock(row, faults);
    rows.set(sku_key, row);
  }
  return [...rows.values()];
}

/**
 * The stock of an existing SKU changes only when the file changed it. Sales since the export are neither reversed nor
 * overwritten: a file that was edited from other numbers is refused for this SKU.
 */
function settleStock(row: Row, faults: CsvFault[]): void {
  const { old, stock, stock_before: before } = row;
  if (!old || stock === undefined || before === undefined) return;
  if (stock === before) row.stock = undefined;
  else if (old.stock !== stock && old.stock !== before)
    faults.push(csvFault(row.line, 'stock', 'stock_moved', { before, now: old.stock }));
}

type Matrix = { specs: SpecGroup[]; skus: (MatrixSku & { status: Sku['status'] })[] };

const keptSku = ({ sku_key, attrs, status }: Sku) => ({ sku_key, attrs, status });

/**
 * The SKUs of the product after the import: those of the file, those that it does not name, and missing ones of the
 * matrix.
 */
function matrixOf(rows: readonly Row[], before: Stored | undefined, faults: CsvFault[]): Matrix {
  const known = before?.skus ?? [];
  const inFile = new Set(rows.map((row) => row.sku_key));
  const others = known.filter((sku) => !inFile.has(sku.sku_key));
  const active = rows.filter((row) => row.status === 'active');
  const [lead] = active;
  for (const row of active)
    if (lead && namesOf(row.attrs) !== namesOf(lead.attrs))
      faults.push(
        csvFault(row.line, 'specs', 'mixed_specs', { names: lead.attrs.map((a) => a.name).join(', ') || 'none' }),
      );
  if (faults.length > 0) return { specs: [], skus: [] };
  const fileSkus = rows.map(({ sku_key, attrs, status, sku_code, price, stock }) => ({
    ...{ sku_key, attrs, status },
    ...(sku_code !== undefined ? { sku_code } : {}),
    ...(price !== undefined ? { price } : {}),
    ...(stock !== undefined ? { stock } : {}),
  }));
  const stillSold = others.filter((sku) => sku.status === 'active');
  if (rows.length === 0 && before) return { specs: before.product.spec_schema, skus: stillSold.map(keptSku) };
  // When the file has other specifications, the SKUs of the earlier ones become inactive, as in the editor.
  const kept = stillSold.map((sku) => ({
    ...keptSku(sku),
    status: !lead || namesOf(sku.attrs) === namesOf(lead.attrs) ? ('active' as const) : ('inactive' as const),
  }));
  const combinations = [...fileSkus, ...kept].filter((sku) => sku.status === 'active').map((sku) => sku.attrs);
  if (combinations.length === 0 && rows.length > 0)
    return { specs: before?.product.spec_schema ?? [], skus: [...fileSkus, ...kept] };
  const names = (combinations[0] ?? []).map((attribute) => attribute.name);
  const specs = normalizeSpecs(
    names.map((name) => ({
      name,
      values: combinations.map((attrs) => attrs.find((attribute) => attribute.name === name)?.value ?? ''),
    })),
  );
  const there = new Set([...inFile, ...others.map((sku) => sku.sku_key)]);
  const lacking = skuMatrix(specs, []).filter((sku) => !there.has(sku.sku_key));
  return { specs, skus: [...fileSkus, ...kept, ...lacking.map((sku) => ({ ...sku, status: 'active' as const }))] };
}

/** The line that a refusal of the save rules belongs to. */
function faultOfRule(error: AppError, draft: Draft, rows: readonly Row[]): CsvFault {
  const row = rows.find((candidate) => candidate.sku_key === error.values.sku_key);
  const line = row?.line ?? firstLine(draft);
  if (error.refusalName === 'price_missing') return csvFault(draft.line, 'price', 'unpriced');
  return { line, field: error.refusalName === 'stock_below_reserved' ? 'stock' : 'specs', message: error.message };
}

const productFields = (row: Product): Omit<ProductWrite, 'id'> => ({
  title: row.title,
  subtitle: row.subtitle,
  cover: row.cover,
  price: row.price,
  origin_price: row.origin_price,
  category_id: row.category_id,
  status: row.status,
  sort: row.sort,
  detail: row.detail,
  translations: row.translations,
  spec_schema: row.spec_schema,
});

/**
 * Plans one product by the rules of the editor. `id` is its existing or new id, and `before` is the stored product.
 * `categoryId` is undefined when the file has no category. `shop` is the language of the shop.
 */
export function planProduct(
  draft: Draft,
  id: number,
  before: Stored | undefined,
  categoryId: number | undefined,
  shop: Locale,
): ImportPlan | Refused {
  const faults: CsvFault[] = [];
  if (!before)
    for (const field of ['title', 'price'] as const)
      if (draft.fields[field] === undefined) faults.push(csvFault(draft.line, field, 'missing'));
  const rows = rowsOf(draft, before?.skus ?? [], faults);
  if (faults.length > 0) return { draft, faults };
  try {
    const given = { ...draft.fields, ...(categoryId !== undefined ? { category_id: categoryId } : {}) };
    const fields = fieldsOf(given, before?.product ?? null, importedTexts(draft, before?.product, shop));
    const { specs, skus } = matrixOf(rows, before, faults);
    if (faults.length > 0) return { draft, faults };
    const planned = plannedSkus(skus, before?.skus ?? [], fields.price, undefined);
    checkPriced(
      fields,
      planned.filter((_, index) => skus[index]!.status === 'active'),
    );
    const statusOf = new Map(skus.map((sku) => [sku.sku_key, sku.status]));
    const old = new Map((before?.skus ?? []).map((sku) => [sku.sku_key, sku]));
    const newSkus: NewSku[] = [];
    const skuChanges: SkuChange[] = [];
    for (const sku of planned) {
      const status = statusOf.get(sku.sku_key)!;
      const known = old.get(sku.sku_key);
      if (!known) newSkus.push({ product_id: id, ...sku, status });
      else if (!isDeepStrictEqual({ ...known, ...sku, status }, known)) {
        const { sku_code, attrs, price, stock } = sku;
        skuChanges.push({ id: known.id, sku_code, attrs, price, stock: stock === known.stock ? null : stock, status });
      }
    }
    const written = { ...fields, spec_schema: specs };
    const product = before && isDeepStrictEqual(written, productFields(before.product)) ? null : { id, ...written };
    const sameImages = !draft.images || isDeepStrictEqual(ordered(draft.images), before?.images ?? []);
    const images = sameImages ? null : (draft.images ?? []).map((image) => ({ product_id: id, ...image }));
    const changes = product !== null || images !== null || newSkus.length + skuChanges.length > 0;
    const outcome = !before ? 'created' : changes ? 'updated' : 'unchanged';
    return { draft, id, outcome, product, images, newSkus, skuChanges };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { draft, faults: [faultOfRule(error, draft, rows)] };
  }
}

const ordered = (images: readonly { url: string; sort: number }[]) => [...images].sort((a, b) => a.sort - b.sort);
