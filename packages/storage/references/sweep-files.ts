import { servedUnder } from '../drivers/local/local-driver.ts';
import { sweepBatch } from '../limits.ts';
import { unreferencedDays } from '../settings.ts';
import { type FileRow, recordUse, selectStored } from '../uploads/file-store.ts';
import { removeFiles } from '../uploads/remove-files.ts';
import type { StorageDeps } from '../uploads/storage-deps.ts';
import { pathIn } from '../uploads/stored-path.ts';
import type { FileReferences } from './file-references.ts';
import { recordReferences } from './reference-store.ts';

/**
 * switched_off: files are kept for ever. blocked: the packages in `missing` have referred to files and do not run, so
 * their references are not known.
 */
export type Sweep = {
  readonly outcome: 'done' | 'switched_off' | 'blocked';
  readonly missing: readonly string[];
  readonly examined: number;
  /** Files without a reference; those whose days are over are `expired` too. */
  readonly unreferenced: number;
  /** Files that were removed, or that would be removed in a dry run. */
  readonly expired: readonly FileRow[];
  readonly bytes: number;
};

type Options = {
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (examined: number) => void;
};

const nothing = { missing: [], examined: 0, unreferenced: 0, expired: [], bytes: 0 } as const;
const dayMs = 86_400_000;

/** All addresses under which rows may name the file: clients see absolute URLs, and may store what they see. */
function addressesOf({ path, address }: FileRow, publicUrl: string | undefined): string[] {
  const local = [`${servedUnder}/${path}`, `/api/v1/uploads/${path}`];
  const origin = publicUrl?.replace(/\/$/, '');
  return [...new Set([address, ...local, ...(origin ? local.map((each) => origin + each) : [])])];
}

/** The paths of the files that have a reference. Values of the configuration file are not in the database. */
async function referencedPaths(deps: StorageDeps, entries: readonly FileReferences[], files: readonly FileRow[]) {
  const { sql, config } = deps.runtime;
  const configured = JSON.stringify(config.settings);
  const used = new Set(files.filter(({ path }) => configured.includes(path)).map(({ path }) => path));
  const addresses = files.flatMap((file) => addressesOf(file, config.publicUrl));
  for (const entry of entries)
    for (const address of await entry.referenced(sql, addresses)) {
      const path = pathIn(address);
      if (path) used.add(path);
    }
  return used;
}

const idsOf = (files: readonly FileRow[]) => files.map(({ id }) => id);

/**
 * Finds the unreferenced files, and removes those that have had no reference for the days of the setting. A reference that
 * is written while this runs is not seen; the days make that unlikely.
 */
export async function sweepFiles(
  deps: StorageDeps,
  entries: readonly FileReferences[],
  { dryRun = false, signal, onProgress }: Options = {},
): Promise<Sweep> {
  const { sql, settings, now } = deps.runtime;
  const days = settings.get(unreferencedDays);
  if (days === 0) return { ...nothing, outcome: 'switched_off' };
  const names = entries.map(({ name }) => name);
  const missing = await recordReferences(sql, names);
  if (missing.length > 0) return { ...nothing, outcome: 'blocked', missing };
  const before = new Date(now().getTime() - days * dayMs);
  const expired: FileRow[] = [];
  let [examined, unreferenced] = [0, 0];
  for (let after = 0; !signal?.aborted; ) {
    const files = await selectStored(sql, after, sweepBatch);
    const last = files.at(-1);
    if (!last) break;
    after = last.id;
    const referenced = await referencedPaths(deps, entries, files);
    const used = files.filter(({ path }) => referenced.has(path));
    const unused = files.filter(({ path }) => !referenced.has(path));
    const due = unused.filter(({ unreferenced_since: since }) => since !== null && since < before);
    if (!dryRun) await recordUse(sql, idsOf(used), idsOf(unused));
    expired.push(...(dryRun ? due : await removeFiles(deps, idsOf(due), before)));
    examined += files.length;
    unreferenced += unused.length;
    onProgress?.(examined);
  }
  const bytes = expired.reduce((sum, { size }) => sum + size, 0);
  return { outcome: 'done', missing: [], examined, unreferenced, expired, bytes };
}
