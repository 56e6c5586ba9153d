import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { modules } from '@tradepost/app';
import { postgresTables } from '@tradepost/postgres';
import { parseSync, Visitor } from 'oxc-parser';
import { readSqlObjects, type SqlObject, withoutComments } from './sql-objects.ts';
import { isTestFile } from './tree.ts';

/**
 * Table ownership: every table belongs to the package whose module declares it, and only the SQL of that package names it.
 * Other packages call functions of the owner, or use the views and SQL functions that it publishes. Returns the faults, each
 * with its file. `node test/architecture/table-ownership.ts` prints them.
 */
const root = join(import.meta.dirname, '../..');

/** What a package declares about its SQL. */
export type Declared = { name: string; tables?: readonly string[]; publishes?: readonly string[] };
export type Source = { file: string; package: string; text: string };

/** Packages that own tables without a module. */
const withoutModule: readonly Declared[] = [{ name: 'postgres', tables: postgresTables }];
/** Tables that are created in code, before there is a migration. */
const createdInCode = ['runtime.migrations'];
/** Schemas that a library creates and fills, and the only package that uses the library. */
const librarySchemas: Readonly<Record<string, string>> = { graphile_worker: 'runtime' };

/** Audits compare tables of several packages, so they read all tables. They write none. */
const readsEverything = (file: string) => file.endsWith('-audits.ts');
/** Files that read and write tables of other packages, each with its reason. */
const exceptions: Readonly<Record<string, string>> = {
  'packages/app/seed-scale.ts':
    'Writes a shop of a million orders for trials of size: joins over the tables of all packages, 50,000 orders per statement.',
};

const isWrite = (sql: string, name: string) =>
  new RegExp(
    `(?:insert into|update|delete from|truncate(?: table)?|merge into|lock table)\\s+(?:only\\s+)?${name}\\b`,
  ).test(sql);

/** Finds the tables, views and functions in an SQL text. */
function namesIn(sql: string, known: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  for (const [name] of sql.matchAll(/(?<![\w.])[a-z_]+\.[a-z_]+(?!\w)/g))
    if (known.has(name) || Object.hasOwn(librarySchemas, name.split('.')[0]!)) found.add(name);
  return found;
}

/** The texts of a source file that can contain SQL: plain strings, and template literals with `$` for each value. */
export function textsIn(file: string, source: string): string[] {
  const texts: string[] = [];
  const visitor = new Visitor({
    TemplateLiteral({ quasis }) {
      texts.push(quasis.map((quasi) => quasi.value.raw).join('$'));
    },
    Literal({ value }) {
      if (typeof value === 'string') texts.push(value);
    },
  });
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  visitor.visit(program);
  return texts.map(withoutComments);
}

/** Finds the faults of packages, given the objects of the database. A pure function, so that a test can use invented packages. */
export function ownershipFaults(
  packages: readonly Declared[],
  objects: readonly SqlObject[],
  sources: readonly Source[],
): string[] {
  const faults: string[] = [];
  const owners = new Map<string, string>();
  const published = new Set<string>();
  for (const { name, tables = [], publishes = [] } of packages) {
    for (const table of tables) {
      if (owners.has(table)) faults.push(`${table} is declared by ${owners.get(table)} and by ${name}`);
      owners.set(table, name);
      if (!objects.some((object) => object.kind === 'table' && object.name === table))
        faults.push(`${name} declares the table ${table}, which no migration creates`);
    }
    for (const object of publishes) {
      published.add(object);
      owners.set(object, name);
      if (!objects.some(({ name: created, kind }) => created === object && kind !== 'table'))
        faults.push(`${name} publishes ${object}, which is no view or function of a migration`);
    }
  }
  for (const { name, kind } of objects) {
    if (owners.has(name)) continue;
    if (kind === 'table') faults.push(`no package declares the table ${name}`);
    // A view or function that is not published belongs to the package of its schema.
    else owners.set(name, name.split('.')[0]!);
  }
  const known = new Set(owners.keys());
  const ownerOf = (name: string) => owners.get(name) ?? librarySchemas[name.split('.')[0]!];
  const foreign = (sql: string, owner: string | undefined) =>
    [...namesIn(sql, known)].filter((name) => ownerOf(name) !== owner && !published.has(name));

  for (const { name, kind, text } of objects)
    if (kind !== 'table')
      for (const used of foreign(text, ownerOf(name)))
        faults.push(`${name} uses ${used}, which belongs to ${ownerOf(used)}`);
  for (const { file, package: owner, text } of sources) {
    if (Object.hasOwn(exceptions, file)) continue;
    for (const sql of textsIn(file, text))
      for (const used of foreign(sql, owner))
        if (!readsEverything(file)) faults.push(`${file}: ${used} belongs to ${ownerOf(used)}`);
        else if (isWrite(sql, used)) faults.push(`${file}: writes ${used}, which belongs to ${ownerOf(used)}`);
  }
  return [...new Set(faults)];
}

async function packageSources(): Promise<Source[]> {
  const entries = await readdir(join(root, 'packages'), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !isTestFile(file));
  return Promise.all(
    files.map(async (file) => ({
      ...{ file, package: file.split('/')[1]! },
      text: await readFile(join(root, file), 'utf8'),
    })),
  );
}

/** Finds the faults of this repository. */
export async function tableFaults(): Promise<string[]> {
  const created: SqlObject[] = createdInCode.map((name) => ({ name, kind: 'table', text: '' }));
  const objects = [...created, ...(await readSqlObjects(join(root, 'sql')))];
  const sources = await packageSources();
  const unused = Object.keys(exceptions).filter((file) => !sources.some((source) => source.file === file));
  return [
    ...ownershipFaults([...withoutModule, ...modules], objects, sources),
    ...unused.map((file) => `${file} is an exception and does not exist`),
  ];
}

if (import.meta.main) {
  const faults = await tableFaults();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(faults.length === 0 ? 'tables: in order\n' : `tables: ${faults.length} faults\n`);
  process.exit(faults.length === 0 ? 0 : 1);
}
