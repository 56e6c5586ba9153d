import type { Locale } from '@tradepost/core';
import type { Queryable, Transaction } from '@tradepost/postgres';
import { maxCategories } from '../limits.ts';

/** The path `A / B / C` of each category, from the root down. A cycle in the data ends after ten levels. */
export async function selectCategoryPaths(
  sql: Queryable,
  ids: readonly number[],
  locale: Locale,
): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; path: string }[]>`
    with recursive up as (
      select id as leaf, parent_id, coalesce(nullif(translations #>> ${[locale, 'name']}, ''), name) as path, 1 as depth
      from catalog.categories where id = any(${[...ids]}::bigint[])
      union all
      select up.leaf, c.parent_id, coalesce(nullif(c.translations #>> ${[locale, 'name']}, ''), c.name) || ' / ' || up.path, up.depth + 1
      from up join catalog.categories c on c.id = up.parent_id
      where up.depth < 10
    )
    select distinct on (leaf) leaf as id, path from up order by leaf, depth desc`;
  return new Map(rows.map((row) => [row.id, row.path]));
}

export type Category = {
  id: number;
  parent_id: number;
  name: string;
  icon: string;
  sort: number;
  status: number;
  translations: CategoryTranslations;
  created_at: Date;
  updated_at: Date;
};
export type CategoryTranslations = Partial<Record<Locale, { name?: string; outdated?: 'name'[] }>>;
export type CategoryFields = Omit<Category, 'id' | 'created_at' | 'updated_at'>;

/** The visible categories, flat, in the order of a menu. */
export async function selectVisibleCategories(sql: Queryable): Promise<Category[]> {
  return sql<Category[]>`
    select id, parent_id, name, icon, sort, status, translations, created_at, updated_at
    from catalog.categories where status = 1 order by sort, id limit ${maxCategories}`;
}

/** All categories. Each has the number of products in it and below it, of any status. */
export async function selectCategories(sql: Queryable): Promise<(Category & { product_count: number })[]> {
  return sql<(Category & { product_count: number })[]>`
    with counts as (
      select category_id, count(*) as n from catalog.products where deleted_at is null group by category_id
    ), sums as (
      select d.ancestor_id as id, sum(counts.n)::int as n
      from counts join catalog.category_descendants d using (category_id) group by d.ancestor_id
    )
    select c.id, c.parent_id, c.name, c.icon, c.sort, c.status, c.translations, c.created_at, c.updated_at,
           coalesce(sums.n, 0) as product_count
    from catalog.categories c left join sums using (id)
    order by c.sort, c.id limit ${maxCategories}`;
}

export type CategoryNode = Pick<Category, 'id' | 'parent_id' | 'name' | 'translations'>;

/** Lets one category writer run at a time, so that two moves cannot form a cycle together. Readers do not wait. */
export async function lockCategories(tx: Transaction): Promise<CategoryNode[]> {
  await tx`lock table catalog.categories in share row exclusive mode`;
  return tx<CategoryNode[]>`select id, parent_id, name, translations from catalog.categories`;
}

export async function insertCategory(tx: Transaction, fields: CategoryFields): Promise<Category> {
  const [row] = await tx<Category[]>`
    insert into catalog.categories (parent_id, name, icon, sort, status, translations)
    values (${fields.parent_id}, ${fields.name}, ${fields.icon}, ${fields.sort}, ${fields.status},
            ${tx.json(fields.translations as never)})
    returning id, parent_id, name, icon, sort, status, translations, created_at, updated_at`;
  return row!;
}

/** Writes the given fields. */
export async function updateCategory(
  tx: Transaction,
  id: number,
  fields: { [K in keyof CategoryFields]?: CategoryFields[K] | undefined },
): Promise<void> {
  const { parent_id = null, name = null, icon = null, sort = null, status = null, translations } = fields;
  await tx`
    update catalog.categories
    set parent_id = coalesce(${parent_id}::bigint, parent_id), name = coalesce(${name}::text, name),
        icon = coalesce(${icon}::text, icon), sort = coalesce(${sort}::int, sort),
        status = coalesce(${status}::smallint, status),
        translations = coalesce(${translations ? tx.json(translations as never) : null}::jsonb, translations),
        updated_at = now()
    where id = ${id}`;
}

/** Locks the category, so that no product can be put into it. Returns true when the category exists. */
export async function lockCategory(tx: Transaction, id: number): Promise<boolean> {
  const rows = await tx`select id from catalog.categories where id = ${id} for update`;
  return rows.length > 0;
}

export async function countInside(tx: Transaction, id: number): Promise<{ children: number; products: number }> {
  const [row] = await tx<{ children: number; products: number }[]>`
    select (select count(*)::int from catalog.categories where parent_id = ${id}) as children,
           (select count(*)::int from catalog.products where category_id = ${id} and deleted_at is null) as products`;
  return row!;
}

export async function deleteCategoryRow(tx: Transaction, id: number): Promise<void> {
  await tx`delete from catalog.categories where id = ${id}`;
}
