import type { Queryable } from '@tradepost/postgres';

/**
 * The condition that a title of product `p` contains the keyword, in any language of the shop. The rows of activities are few, so no
 * index is needed.
 */
export const titleContains = (sql: Queryable, keyword: string) =>
  sql`position((select catalog.search_text(${keyword})) in p.search_titles) > 0`;
