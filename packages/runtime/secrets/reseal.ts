import type { Sql } from '@tradepost/postgres';
import { type ResealedRow, replaceSealed, selectSealed, selectSealedCounts } from './reseal-store.ts';
import type { SealedColumn } from './sealed-column.ts';
import type { Secrets } from './secrets.ts';

type Deps = { readonly sql: Sql; readonly secrets: Secrets };

/** The outcome for one column. */
export type Resealed = {
  readonly table: string;
  readonly column: string;
  /** Values that are encrypted with the first key now. */
  resealed: number;
  /** The keys of rows whose value cannot be decrypted. They stay as they are. */
  readonly unreadable: string[];
};

const batchSize = 200;

/**
 * Encrypts all values of a column with the first key of the key file. Each batch is one statement, so it can be ended at any
 * moment and repeated. A value that changes meanwhile is left to its writer, who uses the first key already.
 */
export async function resealColumn(
  { sql, secrets }: Deps,
  column: SealedColumn,
  { firstKey, stopping }: { firstKey: string; stopping?: AbortSignal | undefined },
): Promise<Resealed> {
  const result: Resealed = { table: column.table, column: column.column, resealed: 0, unreadable: [] };
  for (let after = ''; !stopping?.aborted; ) {
    const rows = await selectSealed(sql, column, { firstKey, after, limit: batchSize });
    if (rows.length === 0) break;
    after = rows.at(-1)!.key;
    const changed: ResealedRow[] = [];
    for (const { key, sealed } of rows) {
      const name = column.nameOf(key);
      let text: string;
      try {
        text = secrets.open(name, sealed);
      } catch {
        result.unreadable.push(key);
        continue;
      }
      changed.push({ key, before: sealed, after: await secrets.seal(name, text) });
    }
    result.resealed += await replaceSealed(sql, column, changed);
  }
  return result;
}

/** The number of values by key id and column. */
export async function countSealed(
  sql: Sql,
  columns: readonly SealedColumn[],
): Promise<{ keyId: string; table: string; column: string; values: number }[]> {
  const counts = await Promise.all(
    columns.map(async (of) =>
      (await selectSealedCounts(sql, of)).map((row) => ({ ...row, table: of.table, column: of.column })),
    ),
  );
  return counts.flat();
}
