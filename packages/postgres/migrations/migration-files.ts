import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const checkout = join(import.meta.dirname, '../../..');
/** The folder of the numbered files in this checkout. */
const migrationsDirectory = join(checkout, 'sql');
/** The release of this checkout. It is recorded with each migration that it applies. */
export const thisRelease = (JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string })
  .version;

export class MigrationError extends Error {
  override name = 'MigrationError';
}

export type Migration = { id: number; name: string; text: string; checksum: string };

/** A migration file. `checksum` is that of its text. */
export type MigrationFile = Pick<Migration, 'id' | 'name' | 'checksum'>;

/** The migration files of this version, and the schemas that they create. */
export async function readMigrationFiles(
  directory = migrationsDirectory,
): Promise<{ files: MigrationFile[]; schemas: string[] }> {
  const migrations = await readMigrations(directory);
  const created = migrations.flatMap(({ text }) => [...text.matchAll(/^create schema (?:if not exists )?(\w+)/gim)]);
  return {
    files: migrations.map(({ id, name, checksum }) => ({ id, name, checksum })),
    schemas: [...new Set(['runtime', ...created.map(([, schema]) => schema!)])],
  };
}

/** Reads the numbered files in order. Throws MigrationError for a name or a number that does not fit. */
export async function readMigrations(directory = migrationsDirectory): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(
    names.map(async (name) => {
      const id = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]);
      if (!Number.isInteger(id)) throw new MigrationError(`${name}: a migration is named NNNN_words.sql`);
      const text = await readFile(join(directory, name), 'utf8');
      // Line endings do not count: a checkout on Windows must not count as edited.
      const checksum = createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
      return { id, name, text, checksum };
    }),
  );
  migrations.forEach((migration, index) => {
    if (migration.id !== index + 1)
      throw new MigrationError(`${migration.name}: expected number ${String(index + 1).padStart(4, '0')}`);
  });
  return migrations;
}
