import type { Queryable, Transaction } from '@tradepost/postgres';
import type { Product, ProductImage, Sku } from '../products/product.ts';
import type { ProductFields } from '../products/product-store.ts';
import type { Attribute, SpecGroup } from '../products/sku-matrix.ts';

/** SQL of catalogue files. Each function works on a batch of products. */

export type ExportedProduct = Omit<Product, 'merchant_id' | 'favorite_count' | 'created_at' | 'updated_at'> & {
  skus: Pick<Sku, 'sku_key' | 'sku_code' | 'attrs' | 'price' | 'stock' | 'status'>[];
  images: Pick<ProductImage, 'url' | 'sort'>[];
};

/** All products except deleted ones, with SKUs and images in id order, from one snapshot, a few hundred at a time. */
export async function* scanProducts(tx: Transaction, batch: number): AsyncGenerator<ExportedProduct[]> {
  await tx`
    declare catalogue no scroll cursor for
    select p.id, p.category_id, p.title, p.subtitle, p.cover, p.price, p.origin_price, p.status, p.sort, p.detail,
      p.spec_schema, p.translations,
      (select coalesce(jsonb_agg(jsonb_build_object('sku_key', s.sku_key, 'sku_code', s.sku_code, 'attrs', s.attrs,
          'price', s.price, 'stock', s.stock, 'status', s.status) order by s.id), '[]')
        from catalog.product_skus s where s.product_id = p.id) as skus,
      (select coalesce(jsonb_agg(jsonb_build_object('url', i.url, 'sort', i.sort) order by i.sort, i.id), '[]')
        from catalog.product_images i where i.product_id = p.id) as images
    from catalog.products p where p.deleted_at is null order by p.id`;
  // Each fetch is a separate statement, so the statement timeout does not limit the whole file.
  for (;;) {
    const rows = await tx<ExportedProduct[]>`fetch ${tx.unsafe(String(batch))} from catalogue`;
    if (rows.length === 0) return;
    yield rows;
  }
}

/** An arbitrary number. Two concurrent imports would both create what neither has found. */
const importLock = 7_205_883_151;

/** Lets one import write at a time. It waits longer for rows than a request of a shopper would. */
export async function lockImport(tx: Transaction): Promise<void> {
  await tx`select set_config('lock_timeout', '30s', true), pg_advisory_xact_lock(${importLock})`;
}

export type CategoryRow = {
  id: number;
  parent_id: number;
  name: string;
  icon: string;
  sort: number;
  status: number;
  translations: Record<string, unknown>;
};

/** `hold` prevents their deletion until the transaction ends. */
export async function selectCategoryRows(tx: Queryable, hold = false): Promise<CategoryRow[]> {
  return tx<CategoryRow[]>`
    select id, parent_id, name, icon, sort, status, translations from catalog.categories
    order by id ${hold ? tx`for key share` : tx``}`;
}

/** Inserts categories whose parents exist. Returns their ids in the given order. */
export async function insertCategories(
  tx: Transaction,
  categories: readonly Omit<CategoryRow, 'id'>[],
): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    insert into catalog.categories (parent_id, name, icon, sort, status, translations)
    select parent_id, name, icon, sort, status, translations
    from jsonb_to_recordset(${tx.json(categories as never)})
      as c (parent_id bigint, name text, icon text, sort int, status smallint, translations jsonb)
    returning id`;
  return rows.map((row) => row.id);
}

/** The products that have one of these codes, in upper or lower case; by the code in lower case. */
export async function selectProductsByCode(tx: Queryable, codes: readonly string[]): Promise<Map<string, number[]>> {
  if (codes.length === 0) return new Map();
  const rows = await tx<{ code: string; ids: number[] }[]>`
    select lower(s.sku_code) as code, jsonb_agg(distinct s.product_id order by s.product_id) as ids
    from catalog.product_skus s join catalog.products p on p.id = s.product_id
    where lower(s.sku_code) = any(${[...codes]}::text[]) and s.sku_code <> '' and p.deleted_at is null
    group by lower(s.sku_code)`;
  return new Map(rows.map((row) => [row.code, row.ids]));
}

export type Stored = {
  product: Product & { deleted_at: Date | null };
  skus: Sku[];
  images: Pick<ProductImage, 'url' | 'sort'>[];
};

/**
 * The present products of `ids`. Locks them, so that two editors run one after the other. Their SKUs stay unlocked,
 * because orders need them.
 */
export async function lockProducts(
  tx: Transaction,
  ids: readonly number[],
  lock: boolean,
): Promise<Map<number, Stored>> {
  if (ids.length === 0) return new Map();
  const products = await tx<Stored['product'][]>`
    select id, merchant_id, category_id, title, subtitle, cover, price, origin_price, status, sort, detail, spec_schema,
      favorite_count, translations, created_at, updated_at, deleted_at
    from catalog.products where id = any(${[...ids]}::bigint[]) order by id ${lock ? tx`for no key update` : tx``}`;
  const parts = await tx<{ id: number; skus: Sku[]; images: Stored['images'] }[]>`
    select p.id,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'id', s.id, 'product_id', s.product_id, 'sku_key', s.sku_key, 'sku_code', s.sku_code, 'attrs', s.attrs,
          'price', s.price, 'stock', s.stock, 'reserved_stock', s.reserved_stock, 'sold', s.sold, 'status', s.status)
          order by s.id), '[]')
        from catalog.product_skus s where s.product_id = p.id) as skus,
      (select coalesce(jsonb_agg(jsonb_build_object('url', i.url, 'sort', i.sort) order by i.sort, i.id), '[]')
        from catalog.product_images i where i.product_id = p.id) as images
    from unnest(${[...ids]}::bigint[]) as p (id)`;
  const partsOf = new Map(parts.map((row) => [row.id, row]));
  return new Map(
    products.map((product) => {
      const { skus, images } = partsOf.get(product.id)!;
      return [product.id, { product, skus, images }];
    }),
  );
}

/** Locks these SKUs in id order, as orders do. Returns their present stock. */
export async function lockSkuRows(
  tx: Transaction,
  ids: readonly number[],
): Promise<Map<number, Pick<Sku, 'id' | 'stock' | 'reserved_stock'>>> {
  const rows = await tx<Pick<Sku, 'id' | 'stock' | 'reserved_stock'>[]>`
    select id, stock, reserved_stock from catalog.product_skus
    where id = any(${[...ids]}::bigint[]) order by id for no key update`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** The highest id of a product so far. */
export async function lastProductId(tx: Queryable): Promise<number> {
  const [row] = await tx<{ last: number }[]>`
    select last_value - (not is_called)::int as last from catalog.products_id_seq`;
  return row!.last;
}

/**
 * Raises the sequence to `id` at least. It uses `nextval`, because setting it could move it back below the id of a
 * concurrent insert.
 */
export async function passProductId(tx: Transaction, id: number): Promise<void> {
  await tx`
    select count(nextval('catalog.products_id_seq'))
    from generate_series(1, ${id} - (select last_value - (not is_called)::int from catalog.products_id_seq))`;
}

export async function newProductIds(tx: Transaction, count: number): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select nextval('catalog.products_id_seq') as id from generate_series(1, ${count})`;
  return rows.map((row) => row.id);
}

export type ProductWrite = ProductFields & { id: number; spec_schema: SpecGroup[] };

const productRecord = (tx: Transaction, products: readonly ProductWrite[]) => tx`
  jsonb_to_recordset(${tx.json(products as never)}) as w (id bigint, category_id bigint, title text, subtitle text,
    cover text, price bigint, origin_price bigint, status smallint, sort int, detail jsonb, translations jsonb,
    spec_schema jsonb)`;

export async function insertProducts(tx: Transaction, products: readonly ProductWrite[]): Promise<void> {
  await tx`
    insert into catalog.products (id, category_id, title, subtitle, cover, price, origin_price, status, sort, detail,
      translations, spec_schema) overriding system value
    select w.id, w.category_id, w.title, w.subtitle, w.cover, w.price, w.origin_price, w.status, w.sort, w.detail,
      w.translations, w.spec_schema
    from ${productRecord(tx, products)}`;
}

export async function updateProducts(tx: Transaction, products: readonly ProductWrite[]): Promise<void> {
  await tx`
    update catalog.products p
    set category_id = w.category_id, title = w.title, subtitle = w.subtitle, cover = w.cover, price = w.price,
        origin_price = w.origin_price, status = w.status, sort = w.sort, detail = w.detail, translations = w.translations,
        spec_schema = w.spec_schema, updated_at = now()
    from ${productRecord(tx, products)} where p.id = w.id`;
}

export type ImageWrite = { product_id: number; url: string; sort: number };

/** Replaces the pictures of these products. A picture that stays keeps its id. */
export async function replaceImagesOf(
  tx: Transaction,
  productIds: readonly number[],
  images: readonly ImageWrite[],
): Promise<void> {
  const wanted = tx`jsonb_to_recordset(${tx.json(images as never)}) as w (product_id bigint, url text, sort int)`;
  await tx`
    delete from catalog.product_images i
    where product_id = any(${[...productIds]}::bigint[]) and not exists (
      select from ${wanted} where w.product_id = i.product_id and w.url = i.url and w.sort = i.sort)`;
  await tx`
    insert into catalog.product_images (product_id, url, sort)
    select w.product_id, w.url, w.sort from ${wanted}
    where not exists (
      select from catalog.product_images i where i.product_id = w.product_id and i.url = w.url and i.sort = w.sort)`;
}

export type NewSku = {
  product_id: number;
  sku_key: string;
  sku_code: string;
  attrs: Attribute[];
  price: number;
  stock: number;
  status: Sku['status'];
};
/** `stock` null leaves the stock unchanged. */
export type SkuChange = Omit<NewSku, 'product_id' | 'sku_key' | 'stock'> & { id: number; stock: number | null };

/** Returns the SKUs as they are stored. */
export async function insertSkus(tx: Transaction, skus: readonly NewSku[]): Promise<Pick<Sku, 'id' | 'stock'>[]> {
  return tx<Pick<Sku, 'id' | 'stock'>[]>`
    insert into catalog.product_skus (product_id, sku_key, sku_code, attrs, price, stock, status)
    select product_id, sku_key, sku_code, attrs, price, stock, status
    from jsonb_to_recordset(${tx.json(skus as never)}) as s (product_id bigint, sku_key text, sku_code text, attrs jsonb,
      price bigint, stock int, status text)
    returning id, stock`;
}

/** Changes SKUs that are already locked. */
export async function updateSkus(tx: Transaction, skus: readonly SkuChange[]): Promise<void> {
  await tx`
    update catalog.product_skus s
    set sku_code = w.sku_code, attrs = w.attrs, price = w.price, stock = coalesce(w.stock, s.stock), status = w.status,
        updated_at = now()
    from jsonb_to_recordset(${tx.json(skus as never)})
      as w (id bigint, sku_code text, attrs jsonb, price bigint, stock int, status text)
    where s.id = w.id`;
}
