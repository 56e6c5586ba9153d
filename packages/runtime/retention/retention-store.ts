import type { Queryable, Sql, Statement } from '@tradepost/postgres';

export type RetentionTable = {
  /** The name with its schema: `gateway.usage`. */
  table: string;
  /**
   * The column, or expression over columns, with the time of a row. A row where it is null is kept. The table has the
   * alias `t`.
   */
  age: string;
  /** The condition for old rows that may be deleted. Default: all old rows. */
  where?: (sql: Queryable, before: Statement) => Statement;
};

/** Deletes at most `limit` rows that are older than `days`, the oldest first. Returns the number of deleted rows. */
export async function deleteOldRows(sql: Sql, of: RetentionTable, days: number, limit: number): Promise<number> {
  const before = sql`now() - make_interval(secs => ${days * 86_400})`;
  const age = sql.unsafe(of.age);
  // A locked row is deleted in a later batch.
  const deleted = await sql`
    delete from ${sql(of.table)} where ctid = any(array(
      select t.ctid from ${sql(of.table)} t
      where ${age} < ${before} and ${of.where?.(sql, before) ?? sql`true`}
      order by ${age} limit ${limit} for update of t skip locked))`;
  return deleted.count;
}
