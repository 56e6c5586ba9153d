import type { Audit } from '@tradepost/runtime';

export const catalogAudits: readonly Audit[] = [
  {
    name: 'catalog.sku_orphans',
    about: 'every SKU belongs to a product',
    query: (sql) => sql`
      select s.id as sku_id, s.product_id, s.sku_key from catalog.product_skus s
      left join catalog.products p on p.id = s.product_id where p.id is null`,
  },
  {
    name: 'catalog.favorite_counts',
    about: 'the favourite count of a product equals the number of shoppers who marked it',
    query: (sql) => sql`
      select p.id as product_id, p.favorite_count, coalesce(f.favorites, 0) as favorites
      from catalog.products p
      left join (select product_id, count(*) as favorites from catalog.favorites group by product_id) as f
        on f.product_id = p.id
      where p.favorite_count <> coalesce(f.favorites, 0)`,
  },
  {
    name: 'catalog.category_cycles',
    about: 'no category is its own ancestor',
    query: (sql) => sql`
      with recursive above as (
        select id as category_id, parent_id as ancestor from catalog.categories where parent_id <> 0
        -- union, not union all: a pair that was there before ends the walk
        union
        select above.category_id, c.parent_id from above
        join catalog.categories c on c.id = above.ancestor where c.parent_id <> 0
      )
      select category_id from above where ancestor = category_id`,
  },
  {
    name: 'catalog.category_descendants',
    about: 'the table of descendants agrees with the parents of the categories',
    query: (sql) => sql`
      with recursive above as (
        select id as category_id, id as ancestor_id, parent_id from catalog.categories
        union
        select above.category_id, c.id, c.parent_id from above join catalog.categories c on c.id = above.parent_id
      )
      select ancestor_id, category_id, s.category_id is null as is_missing
      from (select ancestor_id, category_id from above) as a
      full join (select ancestor_id, category_id from catalog.category_descendants) as s using (ancestor_id, category_id)
      where a.category_id is null or s.category_id is null`,
  },
  {
    name: 'catalog.unpriced',
    about:
      'a product on sale and each of its active SKUs has a price above 0: else it is shown, and can not be ordered',
    query: (sql) => sql`
      select p.id as product_id, p.title, p.price, s.id as sku_id, s.sku_key, s.price as sku_price
      from catalog.products p left join catalog.product_skus s on s.product_id = p.id and s.status = 'active'
      where p.status = 1 and (p.price <= 0 or s.price <= 0)`,
  },
];
