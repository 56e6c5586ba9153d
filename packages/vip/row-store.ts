import type { Paging } from '@tradepost/core';
import type { Queryable, Statement, Transaction } from '@tradepost/postgres';
import { selectPage } from './fields.ts';

type Stored<Fields> = Fields & { id: number; created_at: Date; updated_at: Date };
export type Changes<Fields> = { [K in keyof Fields]: Fields[K] | undefined };

type RowTable<Fields> = {
  readonly table: 'vip.plans' | 'vip.levels' | 'vip.coupon_rules';
  /** The columns that staff write. */
  readonly columns: readonly (keyof Fields & string)[];
  readonly order: (sql: Queryable) => Statement;
  /** The largest number of rows. */
  readonly most: number;
};

/** Reads and writes the rows of one of the small tables that staff fill: plans, levels, rules of coupons. */
export function rowStore<Fields extends { status: 0 | 1 }>({ table, columns, order, most }: RowTable<Fields>) {
  const written: string[] = [...columns];
  const stored = (sql: Queryable) => sql(['id', ...written, 'created_at', 'updated_at']);
  return {
    /** A page of the rows with this status; null is any. */
    selectPage: (sql: Queryable, status: number | null, paging: Paging) =>
      selectPage<Stored<Fields>>(
        sql,
        {
          columns: sql`${stored(sql)}`,
          from: sql`from ${sql(table)} where ${status}::int is null or status = ${status}`,
          order: order(sql),
        },
        paging,
      ),
    async select(sql: Queryable, id: number): Promise<Stored<Fields> | undefined> {
      const [row] = await sql<Stored<Fields>[]>`select ${stored(sql)} from ${sql(table)} where id = ${id}`;
      return row;
    },
    /** The row, locked until the end of the transaction. */
    async lock(tx: Transaction, id: number): Promise<Stored<Fields> | undefined> {
      const [row] = await tx<Stored<Fields>[]>`select ${stored(tx)} from ${tx(table)} where id = ${id} for update`;
      return row;
    },
    /** Adds a row. Returns false when the table has the largest number of rows. */
    async insert(tx: Transaction, fields: Fields): Promise<boolean> {
      await tx`lock table ${tx(table)} in share row exclusive mode`;
      const rows = await tx`
        insert into ${tx(table)} (${tx(written)})
        select ${tx(written)} from json_populate_record(null::${tx(table)}, ${JSON.stringify(fields)}::text::json)
        where (select count(*) from ${tx(table)}) < ${most}
        returning 1`;
      return rows.length > 0;
    },
    /** Writes the given fields. Returns false when the row does not exist. */
    async update(tx: Transaction, id: number, changes: Changes<Fields>): Promise<boolean> {
      const rows = await tx`
        update ${tx(table)} as t
        set (${tx(written)}, updated_at) = (
          select ${tx(written)}, now() from jsonb_populate_record(t, ${JSON.stringify(changes)}::text::jsonb))
        where id = ${id} returning 1`;
      return rows.length > 0;
    },
    /** Deletes a row. Returns false when it does not exist. */
    async remove(tx: Transaction, id: number): Promise<boolean> {
      const rows = await tx`delete from ${tx(table)} where id = ${id} returning 1`;
      return rows.length > 0;
    },
  };
}
