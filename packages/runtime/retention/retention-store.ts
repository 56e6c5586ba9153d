import type { Queryable, Sql, Statement } from '@tradepost/postgres';

export type RetentionTable = {
  /** `gateway.usage` */
  table: string;
  /** Column, or expression over columns, that says how old a row is; a row without it stays. The table is `t`. */
  age: string;
  /** Which of the old rows may go; all when absent. */
  where?: (sql: Queryable, before: Statement) => Statement;
};

/** Deletes at most `limit` rows that are more than `days` old, the oldest first; answers how many. */
export async function deleteOldRows(sql: Sql, of: RetentionTable, days: number, limit: number): Promise<number> {
  const before = sql`now() - make_interval(secs => ${days * 86_400})`;
  const age = sql.unsafe(of.age);
  // A row that somebody holds goes with a later batch.
  const gone = await sql`
    delete from ${sql(of.table)} where ctid = any(array(
      select t.ctid from ${sql(of.table)} t
      where ${age} < ${before} and ${of.where?.(sql, before) ?? sql`true`}
      order by ${age} limit ${limit} for update of t skip locked))`;
  return gone.count;
}
