import type { Sql } from '@tradepost/postgres';
import type { SealedColumn } from './sealed-column.ts';

/** The text of a value. A jsonb column has it as a JSON string. */
const textIn = (sql: Sql, { column, json }: SealedColumn) => (json ? sql`(${sql(column)} #>> '{}')` : sql(column));

/** The next values that another key than the first one has sealed, in the order of their keys. */
export async function selectSealed(
  sql: Sql,
  of: SealedColumn,
  { firstKey, after, limit }: { firstKey: string; after: string; limit: number },
): Promise<{ key: string; sealed: string }[]> {
  const text = textIn(sql, of);
  return sql<{ key: string; sealed: string }[]>`
    select ${sql(of.key)}::text as key, ${text} as sealed from ${sql(of.table)}
    where ${text} like 'sealed:1:%' and ${text} not like ${`sealed:1:${firstKey}:%`}
      and ${sql(of.key)}::text collate "C" > ${after}
    order by ${sql(of.key)}::text collate "C" limit ${limit}`;
}

export type ResealedRow = { readonly key: string; readonly before: string; readonly after: string };

/** Replaces values that are still the same. Returns their number. */
export async function replaceSealed(sql: Sql, of: SealedColumn, rows: readonly ResealedRow[]): Promise<number> {
  if (rows.length === 0) return 0;
  const { count } = await sql`
    update ${sql(of.table)} t set ${sql(of.column)} = ${of.json ? sql`to_jsonb(r.after)` : sql`r.after`}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (key text, before text, after text)
    where t.${sql(of.key)}::text = r.key and ${textIn(sql, of)} = r.before`;
  return count;
}

/** The number of sealed values by the id of their key. */
export async function selectSealedCounts(sql: Sql, of: SealedColumn): Promise<{ keyId: string; values: number }[]> {
  const text = textIn(sql, of);
  return sql<{ keyId: string; values: number }[]>`
    select split_part(${text}, ':', 3) as "keyId", count(*)::int as values from ${sql(of.table)}
    where ${text} like 'sealed:1:%' group by 1 order by 1`;
}
