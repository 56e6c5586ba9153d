import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Product, ProductImage, ProductWithTotals, Sku } from './product.ts';
import type { ProductAdditions } from './product-sections.ts';
import type { Attribute, SpecGroup } from './sku-matrix.ts';

const productColumns = (sql: Queryable) => sql`
  p.id, p.merchant_id, p.category_id, p.title, p.subtitle, p.cover, p.price, p.origin_price, p.status, p.sort, p.detail,
  p.spec_schema, p.favorite_count, p.translations, p.created_at, p.updated_at`;

/** The sellable and sold quantities of product `p`, summed over its SKUs. */
export const totals = (sql: Queryable) => sql`
  cross join lateral (
    select coalesce(sum(s.stock - s.reserved_stock) filter (where s.status = 'active'), 0)::bigint as sellable,
           coalesce(sum(s.sold), 0)::bigint as sales
    from catalog.product_skus s where s.product_id = p.id) as t`;

type WithParts = ProductWithTotals & { skus: Sku[]; images: ProductImage[]; additions: ProductAdditions };

/**
 * A product with its SKUs (oldest first), its images, and the fields of other packages, in one statement. `additions` is the SQL
 * of these fields (`additionsOf`).
 */
export async function selectProduct(
  sql: Queryable,
  id: number,
  additions = `'{}'::jsonb`,
): Promise<WithParts | undefined> {
  const [row] = await sql<WithParts[]>`
    select ${productColumns(sql)}, t.sellable, t.sales, ${sql.unsafe(additions)} as additions,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'id', s.id, 'product_id', s.product_id, 'sku_key', s.sku_key, 'sku_code', s.sku_code, 'attrs', s.attrs,
          'price', s.price, 'stock', s.stock, 'reserved_stock', s.reserved_stock, 'sold', s.sold, 'status', s.status)
          order by s.id), '[]')
        from catalog.product_skus s where s.product_id = p.id) as skus,
      (select coalesce(jsonb_agg(jsonb_build_object('id', i.id, 'product_id', i.product_id, 'url', i.url, 'sort', i.sort)
          order by i.sort, i.id), '[]')
        from catalog.product_images i where i.product_id = p.id) as images
    from catalog.products p ${totals(sql)}
    where p.id = ${id} and p.deleted_at is null`;
  return row;
}

/** The fields by which other packages name a product. */
export type ProductName = Pick<Product, 'id' | 'title' | 'subtitle' | 'translations' | 'cover' | 'status'>;

/** These products by id, also products that are off the shelf or deleted (status 0). */
export async function selectProductNames(sql: Queryable, ids: readonly number[]): Promise<Map<number, ProductName>> {
  const rows = await sql<ProductName[]>`
    select id, title, subtitle, translations, cover, status from catalog.products where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

export type SkuWithProduct = { sku: Sku; product: ProductWithTotals };

/** SKUs with their products, of any status, for the cart. A deleted product is null. */
export async function selectSkusWithProducts(
  sql: Queryable,
  skuIds: readonly number[],
): Promise<Map<number, SkuWithProduct>> {
  if (skuIds.length === 0) return new Map();
  const rows = await sql<(ProductWithTotals & { sku: Sku })[]>`
    select ${productColumns(sql)}, t.sellable, t.sales, jsonb_build_object(
      'id', k.id, 'product_id', k.product_id, 'sku_key', k.sku_key, 'sku_code', k.sku_code, 'attrs', k.attrs,
      'price', k.price, 'stock', k.stock, 'reserved_stock', k.reserved_stock, 'sold', k.sold, 'status', k.status) as sku
    from catalog.product_skus k join catalog.products p on p.id = k.product_id ${totals(sql)}
    where k.id = any(${[...skuIds]}::bigint[]) and p.deleted_at is null`;
  return new Map(rows.map(({ sku, ...product }) => [sku.id, { sku, product }]));
}

/** The fields that an order line copies from the catalogue. */
export type SkuForSale = Pick<Product, 'title' | 'subtitle' | 'cover' | 'translations'> & {
  id: number;
  product_id: number;
  price: number;
  attrs: Attribute[];
};

/** The SKUs of `skuIds` that can be bought now: the SKU is active and its product is on the shelf. */
export async function selectSkusForSale(sql: Queryable, skuIds: readonly number[]): Promise<Map<number, SkuForSale>> {
  if (skuIds.length === 0) return new Map();
  const rows = await sql<SkuForSale[]>`
    select s.id, s.product_id, s.price, s.attrs, p.title, p.subtitle, p.cover, p.translations
    from catalog.product_skus s join catalog.products p on p.id = s.product_id
    where s.id = any(${[...skuIds]}::bigint[]) and s.status = 'active' and p.status = 1
      and s.price > 0`;
  return new Map(rows.map((row) => [row.id, row]));
}

export type ProductFields = Pick<
  Product,
  | 'title'
  | 'subtitle'
  | 'cover'
  | 'price'
  | 'origin_price'
  | 'category_id'
  | 'status'
  | 'sort'
  | 'detail'
  | 'translations'
>;

/** Locks the category until the end of the transaction, so that it cannot be deleted while a product is put into it. */
export async function holdCategory(tx: Transaction, id: number): Promise<boolean> {
  const rows = await tx`select id from catalog.categories where id = ${id} for key share`;
  return rows.length > 0;
}

export async function insertProduct(tx: Transaction, fields: ProductFields, specs: SpecGroup[]): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into catalog.products (title, subtitle, cover, price, origin_price, category_id, status, sort, detail,
                                  translations, spec_schema)
    values (${fields.title}, ${fields.subtitle}, ${fields.cover}, ${fields.price}, ${fields.origin_price},
            ${fields.category_id}, ${fields.status}, ${fields.sort}, ${tx.json(fields.detail as never)},
            ${tx.json(fields.translations as never)}, ${tx.json(specs as never)})
    returning id`;
  return row!.id;
}

/** Locks the product and then its SKUs in id order. Two editors of one product run one after the other. */
export async function lockProduct(tx: Transaction, id: number): Promise<{ product: Product; skus: Sku[] } | undefined> {
  const [product] = await tx<Product[]>`
    select ${productColumns(tx)} from catalog.products p where p.id = ${id} and p.deleted_at is null for no key update`;
  if (!product) return undefined;
  const skus = await tx<Sku[]>`
    select id, product_id, sku_key, sku_code, attrs, price, stock, reserved_stock, sold, status
    from catalog.product_skus where product_id = ${id} order by id for no key update`;
  return { product, skus };
}

export async function updateProduct(
  tx: Transaction,
  id: number,
  fields: ProductFields,
  specs: SpecGroup[],
): Promise<void> {
  await tx`
    update catalog.products
    set title = ${fields.title}, subtitle = ${fields.subtitle}, cover = ${fields.cover}, price = ${fields.price},
        origin_price = ${fields.origin_price}, category_id = ${fields.category_id}, status = ${fields.status},
        sort = ${fields.sort}, detail = ${tx.json(fields.detail as never)},
        translations = ${tx.json(fields.translations as never)}, spec_schema = ${tx.json(specs as never)}, updated_at = now()
    where id = ${id}`;
}

/** Replaces the pictures of the product. A picture that stays keeps its id. */
export async function replaceImages(
  tx: Transaction,
  productId: number,
  images: readonly { url: string; sort: number }[],
): Promise<void> {
  const wanted = tx`
    unnest(${images.map((i) => i.url)}::text[], ${images.map((i) => i.sort)}::int[]) as w (url, sort)`;
  await tx`
    delete from catalog.product_images i
    where product_id = ${productId} and not exists (select from ${wanted} where w.url = i.url and w.sort = i.sort)`;
  await tx`
    insert into catalog.product_images (product_id, url, sort)
    select ${productId}, w.url, w.sort from ${wanted}
    where not exists (
      select from catalog.product_images i where i.product_id = ${productId} and i.url = w.url and i.sort = w.sort)`;
}

export type SkuWrite = Pick<Sku, 'sku_key' | 'sku_code' | 'attrs' | 'price' | 'stock'>;

/**
 * Writes the matrix of one product. Known keys are overwritten and active again, new ones are added, missing ones
 * become inactive. Returns the matrix as it is stored.
 */
export async function writeSkus(
  tx: Transaction,
  productId: number,
  skus: readonly SkuWrite[],
): Promise<Pick<Sku, 'id' | 'stock'>[]> {
  const stored = await tx<Pick<Sku, 'id' | 'stock'>[]>`
    insert into catalog.product_skus (product_id, sku_key, sku_code, attrs, price, stock)
    select ${productId}, s.sku_key, s.sku_code, s.attrs, s.price, s.stock
    from jsonb_to_recordset(${tx.json(skus as never)}) as s (sku_key text, sku_code text, attrs jsonb, price bigint, stock int)
    on conflict (product_id, sku_key) do update
    set sku_code = excluded.sku_code, attrs = excluded.attrs, price = excluded.price, stock = excluded.stock,
        status = 'active', updated_at = now()
    returning id, stock`;
  await tx`
    update catalog.product_skus set status = 'inactive', updated_at = now()
    where product_id = ${productId} and status = 'active' and sku_key <> all(${skus.map((s) => s.sku_key)}::text[])`;
  return stored;
}
