import { finished } from 'node:stream/promises';
import type { Sql, Transaction } from '@tradepost/postgres';
import { partBytes } from '../limits.ts';
import { copyInText, copyOutText, type TableFacts, type TableName } from './table-store.ts';

const newline = 10;

/** The number of rows in the text form: each ends with a line break, and those in values are escaped. */
export function countRows(text: Buffer): number {
  let rows = 0;
  for (let at = text.indexOf(newline); at >= 0; at = text.indexOf(newline, at + 1)) rows += 1;
  return rows;
}

/**
 * Reads the rows of a table in chunks of whole rows, each at least `partBytes` long but the last. The driver passes on messages
 * of the server, which are rows, and a read returns whole messages.
 */
export async function* readRows(tx: Transaction, table: TableFacts): AsyncGenerator<Buffer> {
  const stream = await tx.unsafe(copyOutText(table)).readable();
  let chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length < partBytes) continue;
    yield Buffer.concat(chunks, length);
    chunks = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(chunks, length);
}

/** Writes rows. They are there when it resolves, all or none. */
export async function writeRows(
  sql: Sql,
  table: TableName & { readonly columns: readonly string[] },
  rows: Buffer,
): Promise<void> {
  const stream = await sql.unsafe(copyInText(table)).writable();
  stream.end(rows);
  await finished(stream);
}
