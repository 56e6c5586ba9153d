import type { Sql, Statement, Transaction } from './client.ts';

export type Folding = {
  /** The name of an advisory lock. A second process that folds the same changes does nothing. */
  readonly lock: string;
  /** The table of the recorded changes, with its schema. It has a column `id`. */
  readonly changes: string;
  /** The most changes of one statement. After a day without a worker there are millions. */
  readonly atMost: number;
  /** The statement that adds the relation `changes` to the stored sums. */
  readonly add: (tx: Transaction) => Statement;
};

/**
 * Moves changes that triggers have recorded as rows to the sums they belong to, oldest first, and returns their number. Each
 * transaction deletes a bounded number of changes and adds them, so sums and changes together are exact at any moment.
 */
export async function foldChanges(sql: Sql, folding: Folding): Promise<number> {
  let folded = 0;
  for (;;) {
    const count = await foldSome(sql, folding);
    folded += count;
    if (count < folding.atMost) return folded;
  }
}

async function foldSome(sql: Sql, { lock, changes, atMost, add }: Folding): Promise<number> {
  return sql.begin(async (tx) => {
    const [locked] = await tx<{ ours: boolean }[]>`select pg_try_advisory_xact_lock(hashtext(${lock})) as ours`;
    if (!locked!.ours) return 0;
    const [row] = await tx<{ n: number }[]>`
      with changes as (
        delete from ${tx(changes)} where id = any(array(select id from ${tx(changes)} order by id limit ${atMost})) returning *
      ), added as (${add(tx)})
      select count(*)::int as n from changes`;
    return row!.n;
  });
}
