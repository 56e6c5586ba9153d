import { defineRegistry } from '@tradepost/module';
import type { Queryable, Statement } from '@tradepost/postgres';
import { storedPath } from '../uploads/stored-path.ts';

/**
 * The references of one package to uploaded files. A file that no package refers to is removed after some days, so every
 * package with a column for file addresses has an entry.
 */
export type FileReferences = {
  /** The name of the package, and of the part of it where it has several. It is recorded in the database. */
  readonly name: string;
  /**
   * Which of these addresses the tables of the package contain. An address is stored as `/uploads/2026/11/x.png`, or as an
   * absolute URL of any host. Files are compared by their path: `addressesIn` does it in SQL, `pathIn` gives the path.
   */
  referenced(sql: Queryable, addresses: readonly string[]): Promise<readonly string[]>;
};

export const fileReferences = defineRegistry<FileReferences>('storage.file_references', { isStatic: true });

/**
 * The addresses whose file occurs in one of the texts, anywhere in the text: `texts` selects one text column. Files are
 * compared by their path, which is unique, so it does not matter under which host a text names a file. It reads all
 * selected texts once.
 */
export async function addressesIn(
  sql: Queryable,
  addresses: readonly string[],
  texts: Statement,
): Promise<readonly string[]> {
  const pattern = `(${storedPath})`;
  const rows = await sql<{ address: string }[]>`
    with used as (
      select distinct found[1] as path
      from (${texts}) as given (text), regexp_matches(given.text, ${pattern}, 'g') as found)
    select asked.address
    from unnest(${addresses as string[]}::text[]) as asked (address)
    where (regexp_match(asked.address, ${pattern}))[1] in (select path from used)`;
  return rows.map(({ address }) => address);
}
