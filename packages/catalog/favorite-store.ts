import type { Queryable, Sql } from '@tradepost/runtime';

export type Favorite = { user_id: number; product_id: number };

/**
 * Adds favourites and counts the new ones; answers the products that are on the shelf. The products are locked first, in
 * id order, so writers of one product take turns and its count stays what its rows are.
 */
export async function addFavorites(sql: Sql, favorites: readonly Favorite[]): Promise<Set<number>> {
  const rows = await sql<{ id: number }[]>`
    with wanted as (
      select distinct user_id, product_id
      from unnest(${favorites.map((f) => f.user_id)}::bigint[], ${favorites.map((f) => f.product_id)}::bigint[])
        as w (user_id, product_id)
    ), shelf as materialized (
      select p.id from catalog.products p where p.id in (select product_id from wanted) and p.status = 1
      order by p.id for no key update
    ), added as (
      insert into catalog.favorites (user_id, product_id)
      select w.user_id, w.product_id from wanted w join shelf on shelf.id = w.product_id
      on conflict do nothing returning product_id
    ), counts as (
      select product_id, count(*)::int as n from added group by product_id
    ), counted as (
      update catalog.products p set favorite_count = p.favorite_count + counts.n from counts where p.id = counts.product_id
    )
    select id from shelf`;
  return new Set(rows.map((row) => row.id));
}

/** Takes favourites away and counts those that were there. */
export async function removeFavorites(sql: Sql, favorites: readonly Favorite[]): Promise<void> {
  await sql`
    with wanted as (
      select distinct user_id, product_id
      from unnest(${favorites.map((f) => f.user_id)}::bigint[], ${favorites.map((f) => f.product_id)}::bigint[])
        as w (user_id, product_id)
    ), held as materialized (
      select p.id from catalog.products p where p.id in (select product_id from wanted)
      order by p.id for no key update
    ), removed as (
      delete from catalog.favorites f using wanted w join held on held.id = w.product_id
      where f.user_id = w.user_id and f.product_id = w.product_id
      returning f.product_id
    ), counts as (
      select product_id, count(*)::int as n from removed group by product_id
    )
    update catalog.products p set favorite_count = greatest(p.favorite_count - counts.n, 0)
    from counts where p.id = counts.product_id`;
}

/** Which of `productIds` the shopper likes. */
export async function selectFavorited(
  sql: Queryable,
  userId: number,
  productIds: readonly number[],
): Promise<Set<number>> {
  if (productIds.length === 0) return new Set();
  const rows = await sql<{ product_id: number }[]>`
    select product_id from catalog.favorites
    where user_id = ${userId} and product_id = any(${[...productIds]}::bigint[])`;
  return new Set(rows.map((row) => row.product_id));
}
