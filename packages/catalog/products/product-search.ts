import type { Queryable } from '@tradepost/postgres';

/**
 * The SQL of a keyword search. sql/0004_catalog.sql describes the terms and the indexes. An expression of the keyword
 * alone is a sub-select, which is evaluated once per statement. A prepared statement would otherwise evaluate it for
 * every row.
 */
const asked = (sql: Queryable, keyword: string) => ({
  text: sql`(select catalog.search_text(${keyword}))`,
  line: sql`(select E'\\n' || catalog.search_text(${keyword}) || E'\\n')`,
  bare: sql`(select catalog.search_plain(catalog.search_text(${keyword})))`,
  query: sql`(select catalog.search_query(${keyword}))`,
  inTitle: sql`(select catalog.search_query(${keyword}, 'A'))`,
  pattern: sql`(select catalog.search_pattern(${keyword}))`,
});

/** The condition that the texts of product `p` contain the keyword. */
export const hasKeyword = (sql: Queryable, keyword: string) => {
  const { query, pattern } = asked(sql, keyword);
  return sql`(p.search @@ ${query} or p.search_titles like ${pattern})`;
};

/**
 * The rank of `p`, best first: the title is the keyword (6), begins with its whole words (5), contains them (4),
 * contains a word that begins with it (3), contains it anywhere (2), contains its words apart or inflected (1); other
 * texts contain it (0).
 */
export const keywordRank = (sql: Queryable, keyword: string) => {
  const { text, line, bare, inTitle } = asked(sql, keyword);
  return sql`
  case
    when strpos(p.search_titles, ${text}) = 0 then case when p.search @@ ${inTitle} then 1 else 0 end
    when strpos(p.search_titles, ${line}) > 0 then 6
    else (
      select case
        when strpos(plain, E'\\n' || ${bare} || ' ') > 0 then 5
        when strpos(plain, ' ' || ${bare} || ' ') > 0 then 4
        when strpos(plain, E'\\n' || ${bare}) > 0 or strpos(plain, ' ' || ${bare}) > 0 then 3
        else 2 end
      -- offset 0: else the signs would be looked for again in every branch
      from (select catalog.search_plain(p.search_titles) as plain offset 0) as words)
  end`;
};

const idLike = /^[1-9]\d{0,14}$/;

/** The same for the back office. It also searches ids and the beginning of SKU codes; those hits come first. */
export const staffHits = (sql: Queryable, keyword: string) => {
  const id = idLike.test(keyword.trim()) ? Number(keyword.trim()) : null;
  const code = `${keyword.trim().replace(/[\\%_]/g, '\\$&')}%`;
  return sql`(
    select found.id, max(found.named) as named from (
      select p.id, 0 as named from catalog.products p where ${hasKeyword(sql, keyword)}
      union all
      select s.product_id, 1 from catalog.product_skus s where s.sku_code <> '' and lower(s.sku_code) like lower(${code})
      union all
      select p.id, 2 from catalog.products p where p.id = ${id}::bigint) as found
    group by found.id) as hit`;
};
