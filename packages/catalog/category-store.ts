import type { Locale } from '@tradepost/core';
import type { Queryable } from '@tradepost/runtime';

/** `A / B / C` of each category, from the root down; a cycle in the data ends at ten levels. */
export async function selectCategoryPaths(
  sql: Queryable,
  ids: readonly number[],
  locale: Locale,
): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; path: string }[]>`
    with recursive up as (
      select id as leaf, parent_id, coalesce(translations #>> ${[locale, 'name']}, name) as path, 1 as depth
      from catalog.categories where id = any(${[...ids]}::bigint[])
      union all
      select up.leaf, c.parent_id, coalesce(c.translations #>> ${[locale, 'name']}, c.name) || ' / ' || up.path, up.depth + 1
      from up join catalog.categories c on c.id = up.parent_id
      where up.depth < 10
    )
    select distinct on (leaf) leaf as id, path from up order by leaf, depth desc`;
  return new Map(rows.map((row) => [row.id, row.path]));
}
