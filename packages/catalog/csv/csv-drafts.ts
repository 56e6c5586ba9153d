import { type Locale, locales, toMinor } from '@tradepost/core';
import { amountOf, type CsvFault, type CsvLine, integerOf, textOf } from '@tradepost/csv';
import { z } from 'zod';
import { maxLevels } from '../categories/save-category.ts';
import type { Translations } from '../products/product.ts';
import type { Attribute } from '../products/sku-matrix.ts';
import { productUpdateBody } from '../schemas.ts';
import { imagesOf, jsonOf, pairsOf, pathOf } from './csv-cells.ts';
import { longColumns, productColumns } from './csv-columns.ts';
import { csvFault } from './csv-faults.ts';

type Fields = Omit<
  NonNullable<z.output<typeof productUpdateBody>['product']>,
  'translations' | 'category_id' | 'stock'
>;
type Texts = NonNullable<Translations[Locale]>;
/** The changes of the texts of one language: null removes a text, an absent one stays. */
export type TextChanges = Partial<Record<Locale, { [K in keyof Texts]?: Texts[K] | null }>>;
export type SkuLine = {
  line: number;
  /** Empty means the default SKU, or the SKU that has the code. */
  attrs: Attribute[];
  sku_code?: string;
  /** Minor units. */
  price?: number;
  stock?: number;
  stock_before?: number;
  status?: 'active' | 'inactive';
};
type CategoryDetail = { icon: string; sort: number; status: number; translations: Record<string, unknown> };
/**
 * The content of the lines of one product, checked on its own. Whether it fits the shop is checked when it is written.
 */
export type Draft = {
  /** The number of its first line. */
  line: number;
  lines: number;
  product_id: number | null;
  fields: Fields;
  texts: TextChanges;
  images?: { url: string; sort: number }[];
  category?: { path: string[]; detail: CategoryDetail[] | null };
  /** Lines with values of a SKU. */
  skus: SkuLine[];
  faults: CsvFault[];
};
/** The lines of one product. */
export type Group = { key: string; lines: CsvLine[]; characters: number; faults: CsvFault[] };

/** More lines than a product can have SKUs, including SKUs that are no longer sold. */
const maxLines = 2_000;
/** Broken lines that are kept for the product around them. After more of them the product ends. */
const maxBetween = 1_000;
/** The largest number of characters in the lines of a product. */
const maxCharacters = 8_000_000;
const maxKey = 255;
/** The limit of the editor of categories. */
const categoryName = 64;
const categoryDetails = z.array(
  z.object({
    icon: z.string().max(1000),
    sort: z.int().min(-1_000_000).max(1_000_000),
    status: z.int().min(0).max(1),
    translations: z.partialRecord(z.enum(locales), z.object({ name: z.string().max(200) })),
  }),
);

/** The column of a fault, by the path that the schema reports. */
function columnOf(path: readonly PropertyKey[]): string {
  const [part, ...rest] = path.filter((step) => typeof step !== 'number').map(String);
  if (part === 'product' && rest[0] === 'translations') return `${rest[2] ?? 'title'}_${rest[1]}`;
  if (part === 'product') return rest[0] ?? 'title';
  if (part === 'spec_schema') return 'specs';
  if (part === 'sku_overrides') return rest[0] === 'price' ? 'sku_price' : (rest[0] ?? 'specs');
  return part ?? '-';
}

type Said = { line: number; cell: string };

function reader(lines: readonly CsvLine[], faults: CsvFault[]) {
  const said = (column: string): Said | undefined => {
    let found: Said | undefined;
    for (const { line, cells } of lines) {
      const cell = cells.get(column);
      if (cell === undefined) return undefined;
      found ??= { line, cell };
      if (cell === '' || cell === found.cell) continue;
      if (found.cell === '') found = { line, cell };
      else faults.push(csvFault(line, column, 'differs', { line: found.line }));
    }
    return found;
  };
  const number = (column: string, at: Said | undefined, kind: 'amount' | 'integer'): number | undefined => {
    const text = at && textOf(at.cell.trim());
    if (!at || !text) return undefined;
    const value = kind === 'amount' ? amountOf(text) : integerOf(text);
    if (value === null) faults.push(csvFault(at.line, column, kind === 'amount' ? 'not_amount' : 'not_integer'));
    return value ?? undefined;
  };
  return { said, number };
}
type Reader = ReturnType<typeof reader>;

function fieldsOf({ said, number }: Reader, faults: CsvFault[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const column of ['subtitle', 'cover', 'title']) {
    const at = said(column);
    if (at) fields[column] = textOf(at.cell);
    if (at && column === 'title' && at.cell.trim() === '') faults.push(csvFault(at.line, column, 'not_empty'));
  }
  for (const column of ['status', 'sort']) fields[column] = number(column, said(column), 'integer');
  const price = said('price');
  fields.price = number('price', price, 'amount');
  if (price?.cell.trim() === '') faults.push(csvFault(price.line, 'price', 'not_empty'));
  const origin = said('origin_price');
  if (origin) fields.origin_price = number('origin_price', origin, 'amount') ?? 0;
  const detail = said('detail');
  if (detail) fields.detail = detail.cell === '' ? { version: 1, blocks: [] } : jsonOf(textOf(detail.cell));
  if (detail && fields.detail === undefined) faults.push(csvFault(detail.line, 'detail', 'not_json'));
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function textsOf({ said }: Reader, faults: CsvFault[]): TextChanges {
  const changes: TextChanges = {};
  for (const locale of locales) {
    const texts: Record<string, unknown> = {};
    for (const column of ['title', 'subtitle', 'detail', 'specs'] as const) {
      const name = `${column}_${locale}`;
      const at = said(name);
      if (!at) continue;
      if (at.cell === '') texts[column] = null;
      else if (column === 'detail') {
        texts[column] = jsonOf(textOf(at.cell));
        if (texts[column] === undefined) faults.push(csvFault(at.line, name, 'not_json'));
      } else if (column === 'specs') {
        const pairs = pairsOf(at.cell);
        if (!pairs) faults.push(csvFault(at.line, name, 'not_pairs'));
        texts[column] = Object.fromEntries((pairs ?? []).map((pair) => [pair.name, pair.value]));
      } else texts[column] = textOf(at.cell);
    }
    if (Object.keys(texts).length > 0) changes[locale] = texts as TextChanges[Locale];
  }
  return changes;
}

function categoryOf({ said }: Reader, faults: CsvFault[]): Draft['category'] {
  const at = said('category');
  if (!at) return undefined;
  const path = pathOf(at.cell);
  if (path.length > maxLevels || path.some((name) => name === '' || name.length > categoryName || /\0/.test(name)))
    faults.push(csvFault(at.line, 'category', 'not_category', { levels: maxLevels, max: categoryName }));
  const detail = said('category_detail');
  if (!detail || detail.cell === '') return { path, detail: null };
  const parsed = categoryDetails.safeParse(jsonOf(textOf(detail.cell)));
  if (parsed.success && parsed.data.length === path.length) return { path, detail: parsed.data };
  faults.push(csvFault(detail.line, 'category_detail', 'not_category_detail'));
  return undefined;
}

/** The values of a line about its SKU, or null when the line has none. */
function skuOf(source: CsvLine, faults: CsvFault[]): SkuLine | null {
  const { line, cells } = source;
  const cell = (column: string) => cells.get(column) ?? '';
  if (['specs', 'sku_code', 'sku_price', 'stock', 'sku_status'].every((column) => cell(column) === '')) return null;
  const { number } = reader([source], faults);
  const at = (column: string) => ({ line, cell: cell(column) });
  const attrs = pairsOf(cell('specs'));
  if (!attrs) faults.push(csvFault(line, 'specs', 'not_pairs'));
  const status = cell('sku_status').trim();
  if (status && status !== 'active' && status !== 'inactive') faults.push(csvFault(line, 'sku_status', 'not_status'));
  const price = number('sku_price', at('sku_price'), 'amount');
  const stock = number('stock', at('stock'), 'integer');
  const sku_code = cells.has('sku_code') ? textOf(cell('sku_code')) : undefined;
  const parsed = productUpdateBody.safeParse({
    spec_schema: attrs?.map(({ name, value }) => ({ name, values: [value] })),
    sku_overrides: [{ sku_key: 'key', sku_code, price, stock }],
  });
  for (const issue of parsed.error?.issues ?? [])
    faults.push({ line, field: columnOf(issue.path), message: issue.message });
  if (!parsed.success) return null;
  const stock_before = number('stock_before', at('stock_before'), 'integer');
  return {
    line,
    attrs: (attrs ?? []).sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(sku_code !== undefined ? { sku_code } : {}),
    ...(price !== undefined ? { price: toMinor(price) } : {}),
    ...(stock !== undefined ? { stock } : {}),
    ...(stock_before !== undefined ? { stock_before } : {}),
    ...(status ? { status: status as 'active' | 'inactive' } : {}),
  };
}

/** Checks the lines of a product with the schema of the editor. */
export function draftOf(group: Group): Draft {
  const faults = [...group.faults];
  const { lines } = group;
  const read = reader(lines, faults);
  const first = lines[0]!.line;
  const fields = fieldsOf(read, faults);
  const texts = textsOf(read, faults);
  const pictures = read.said('images');
  const images = pictures && imagesOf(pictures.cell);
  if (pictures && !images) faults.push(csvFault(pictures.line, 'images', 'not_images'));
  // Texts that are removed need no check.
  const translations = Object.fromEntries(
    Object.entries(texts).map(([locale, changed]) => [
      locale,
      Object.fromEntries(Object.entries(changed).filter(([, text]) => text !== null)),
    ]),
  );
  const parsed = productUpdateBody.safeParse({ product: { ...fields, translations }, ...(images ? { images } : {}) });
  const lineOf = (column: string) =>
    [...productColumns, ...longColumns].includes(column) ? (read.said(column)?.line ?? first) : first;
  for (const issue of parsed.error?.issues ?? []) {
    const field = columnOf(issue.path);
    faults.push({ line: lineOf(field), field, message: issue.message });
  }
  const { translations: checked, ...product } = (parsed.data?.product ?? {}) as Fields & {
    translations?: Translations;
  };
  // The editor stores an invalid page as an empty one. A mistake in a file must not delete a page.
  const given = fields.detail as { version?: unknown; blocks?: unknown[] } | undefined;
  if (given && parsed.success && (given.version !== 1 || given.blocks?.length !== product.detail?.blocks.length))
    faults.push(csvFault(lineOf('detail'), 'detail', 'not_detail'));
  for (const locale of locales)
    for (const [column, text] of Object.entries(checked?.[locale] ?? {}))
      Object.assign(texts[locale] ?? {}, { [column]: text });
  const id = read.said('product_id');
  const product_id = read.number('product_id', id, 'integer') ?? null;
  if (product_id !== null && product_id < 1) faults.push(csvFault(first, 'product_id', 'not_integer'));
  const skus = lines.map((line) => skuOf(line, faults)).filter((sku) => sku !== null);
  const category = categoryOf(read, faults);
  return {
    ...{ line: first, lines: lines.length, product_id, fields: product, texts, skus, faults },
    ...(parsed.data?.images ? { images: parsed.data.images.map((i, at) => ({ url: i.url, sort: i.sort ?? at })) } : {}),
    ...(category ? { category } : {}),
  };
}

/** Joins the consecutive lines of each product. A line that cannot be read belongs to the product around it. */
export async function* groupLines(source: AsyncIterable<CsvLine | CsvFault>): AsyncGenerator<Group | CsvFault> {
  let group: Group | null = null;
  const between: CsvFault[] = [];
  /** The last line of each earlier product: some 50 bytes per product. */
  const seen = new Map<string, number>();
  for await (const item of source) {
    if (!('cells' in item)) {
      between.push(item);
      if (between.length >= maxBetween) {
        if (group) yield group;
        group = null;
        yield* between.splice(0);
      }
      continue;
    }
    const id = (item.cells.get('product_id') ?? '').trim();
    const handle = (item.cells.get('handle') ?? '').trim();
    const key = id || (handle && `handle ${handle}`);
    if (group && key === group.key) {
      group.faults.push(...between.splice(0));
      group.characters += item.characters;
      if (group.lines.length < maxLines && group.characters <= maxCharacters) group.lines.push(item);
      else group.faults = [csvFault(item.line, '-', 'too_many_lines', { max: maxLines, characters: maxCharacters })];
      seen.set(key, item.line);
      continue;
    }
    if (group) yield group;
    group = null;
    yield* between.splice(0);
    if (!key) {
      yield csvFault(item.line, 'product_id', 'no_key');
      continue;
    }
    if (key.length > maxKey) {
      yield csvFault(item.line, id ? 'product_id' : 'handle', 'long_key', { max: maxKey });
      continue;
    }
    const faults: CsvFault[] = [];
    const before = seen.get(key);
    if (before !== undefined)
      faults.push(csvFault(item.line, id ? 'product_id' : 'handle', 'scattered', { line: before }));
    seen.set(key, item.line);
    group = { key, lines: [item], characters: item.characters, faults };
  }
  if (group) yield group;
  yield* between;
}
