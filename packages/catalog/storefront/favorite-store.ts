import type { Queryable, Sql } from '@tradepost/postgres';
import { maxFavorites } from '../limits.ts';

export type Favorite = { user_id: number; product_id: number };

/** The outcome of a favourite: it is stored, its product is not on the shelf, or the shopper has too many. */
export type FavoriteOutcome = 'there' | 'not_found' | 'too_many';

/**
 * Adds favourites and counts the new ones. Returns one outcome for each. Locks the products first, in id order, so
 * writers of one product run one after the other and its count equals its rows. A shopper gets at most `max`
 * favourites. Batches that run at the same moment do not see each other's rows, so the limit can be exceeded by their
 * size.
 */
export async function addFavorites(
  sql: Sql,
  favorites: readonly Favorite[],
  max: number = maxFavorites,
): Promise<FavoriteOutcome[]> {
  const rows = await sql<{ user_id: number; product_id: number; fits: boolean }[]>`
    with wanted as (
      select distinct user_id, product_id
      from unnest(${favorites.map((f) => f.user_id)}::bigint[], ${favorites.map((f) => f.product_id)}::bigint[])
        as w (user_id, product_id)
    ), shelf as materialized (
      select p.id from catalog.products p where p.id in (select product_id from wanted) and p.status = 1
      order by p.id for no key update
    ), possible as (
      select w.user_id, w.product_id, f.product_id is not null as is_there
      from wanted w join shelf on shelf.id = w.product_id
      left join catalog.favorites f on f.user_id = w.user_id and f.product_id = w.product_id
    ), held as (
      -- by index, and no further than the limit
      select u.user_id, (select count(*) from (select from catalog.favorites f where f.user_id = u.user_id limit ${max}) c) as n
      from (select distinct user_id from possible) as u
    ), decided as materialized (
      select user_id, product_id, is_there,
             is_there or held.n + row_number() over (partition by user_id, is_there order by product_id) <= ${max} as fits
      from possible join held using (user_id)
    ), added as (
      insert into catalog.favorites (user_id, product_id)
      select user_id, product_id from decided where fits and not is_there
      on conflict do nothing returning product_id
    ), counts as (
      select product_id, count(*)::int as n from added group by product_id
    ), counted as (
      update catalog.products p set favorite_count = p.favorite_count + counts.n from counts where p.id = counts.product_id
    )
    select user_id, product_id, fits from decided`;
  const outcomes = new Map(rows.map((row) => [`${row.user_id} ${row.product_id}`, row.fits ? 'there' : 'too_many']));
  return favorites.map((f) => (outcomes.get(`${f.user_id} ${f.product_id}`) ?? 'not_found') as FavoriteOutcome);
}

/** Removes favourites and counts those that existed. */
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

/** Returns the products of `productIds` that the shopper marked as favourite. */
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
