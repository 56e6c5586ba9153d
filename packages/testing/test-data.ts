import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { modules } from '@tradepost/app';
import type { Maker } from './routes/makers.ts';

/**
 * The data of a package for the tests that cover all packages. Each package declares it as `testData` in its file
 * `testing/test-data.ts`. There is no list of packages.
 */
export type TestData = {
  /** SQL that inserts valid rows into the tables of the package. It runs after that of earlier modules in the list. */
  readonly rows?: string;
  /** At least one case for each audit of the package. */
  readonly auditCases?: readonly AuditCase[];
  /**
   * Functions for objects that a POST to their collection does not create. The key is the
   * last segment of the collection's path, or the whole path where several collections end alike, or route and name of one id.
   */
  readonly makers?: Readonly<Record<string, Maker>>;
};

/** `sql` breaks the small shop. `audit` and the audits in `also` must report this, and no other audit may. */
export type AuditCase = [audit: string, what: string, sql: string, also?: readonly string[]];

/** SQL that drops the check and foreign key constraints of a table, so that a test can write rows that they forbid. */
export const withoutConstraints = (table: string): string => `
  do $$ declare c text; begin
    for c in select conname from pg_constraint where conrelid = '${table}'::regclass and contype in ('c', 'f') loop
      execute format('alter table ${table} drop constraint %I', c);
    end loop;
  end $$;`;

const packages = join(import.meta.dirname, '..');

/** The test data of all packages, in the order of the module list. */
export async function loadTestData(): Promise<TestData[]> {
  const order = modules.map(({ name }) => name);
  const files = globSync('*/testing/test-data.ts', { cwd: packages })
    .map((file) => ({ file, index: order.indexOf(file.split(/[\\/]/)[0]!) }))
    .sort((a, b) => a.index - b.index);
  return Promise.all(
    files.map(async ({ file, index }) => {
      if (index < 0) throw new Error(`packages/${file}: no module has the name of this package`);
      const { testData } = await import(pathToFileURL(join(packages, file)).href);
      return testData as TestData;
    }),
  );
}
