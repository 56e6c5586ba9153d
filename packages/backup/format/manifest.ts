import { createHash } from 'node:crypto';
import { z } from 'zod';
import { backupErrors } from '../errors.ts';
import { compressions } from './compression.ts';

/**
 * The manifest is the last entry of a backup. It has the checksum of every part, and its own checksum covers them all: a backup
 * without it is incomplete, and a changed byte anywhere is found.
 */
export const manifestEntry = 'manifest.json';
const formatName = 'tradepost-backup';
/** Programs refuse backups with a higher number. */
const formatVersion = 1;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().nonnegative();
const tableName = { schema: z.string().min(1).max(63), name: z.string().min(1).max(63) };

const partSchema = z.object({
  /** The name of its entry. */
  name: z.string().regex(/^(rows|files)-\d{7}$/),
  /** The index of its table in `tables`. Null for uploaded files. */
  table: count.nullable(),
  rows: count,
  /** Length as stored, and before compression. */
  bytes: count,
  raw_bytes: count,
  sha256,
});

const manifestSchema = z.object({
  program: z.string().max(100),
  begun_at: z.iso.datetime(),
  /** The time of the snapshot, by the clock of the database. */
  snapshot_at: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  /** The id of the database that the backup was made of. */
  source: z.string().regex(/^[0-9a-f]{8}$/),
  postgres: z.string().max(100),
  compression: z.enum(compressions),
  migrations: z.array(z.object({ id: count, name: z.string().max(200), checksum: sha256 })).max(9_999),
  tables: z
    .array(
      z.object({
        ...tableName,
        /** Without generated columns. */
        columns: z.array(z.string().min(1).max(63)).max(1_600),
        rows: count,
      }),
    )
    .max(10_000),
  sequences: z
    .array(z.object({ ...tableName, last_value: z.string().regex(/^-?\d{1,19}$/), is_called: z.boolean() }))
    .max(10_000),
  /** `missing`: rows name these files, and they were not there. */
  uploads: z.object({ included: z.enum(['all', 'local', 'none']), files: count, bytes: count, missing: count }),
  parts: z.array(partSchema),
});

export type Manifest = Readonly<z.output<typeof manifestSchema>>;
export type Part = Manifest['parts'][number];
export type Sequence = Manifest['sequences'][number];
export type UploadChoice = Manifest['uploads']['included'];

const outerSchema = z.object({
  format: z.literal(formatName),
  version: count,
  sha256,
  manifest: z.unknown(),
});

export const sha256Of = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

export function manifestText(manifest: Manifest): string {
  const sum = sha256Of(JSON.stringify(manifest));
  return `${JSON.stringify({ format: formatName, version: formatVersion, sha256: sum, manifest })}\n`;
}

/** Reads a manifest. Refuses one that was altered, and one of a newer format. `place` names the backup in the message. */
export function readManifest(text: string, place: string): Manifest {
  let outer: z.output<typeof outerSchema>;
  try {
    outer = outerSchema.parse(JSON.parse(text));
  } catch {
    throw backupErrors.altered({ place, part: manifestEntry });
  }
  if (sha256Of(JSON.stringify(outer.manifest)) !== outer.sha256)
    throw backupErrors.altered({ place, part: manifestEntry });
  if (outer.version > formatVersion) {
    const program = (outer.manifest as { program?: unknown } | null)?.program;
    throw backupErrors.newer_format({
      place,
      program: typeof program === 'string' ? program.slice(0, 100) : 'unknown',
    });
  }
  const parsed = manifestSchema.safeParse(outer.manifest);
  if (!parsed.success) throw backupErrors.altered({ place, part: manifestEntry });
  return parsed.data;
}

export const rowsOf = ({ tables }: Pick<Manifest, 'tables'>): number => tables.reduce((sum, { rows }) => sum + rows, 0);
