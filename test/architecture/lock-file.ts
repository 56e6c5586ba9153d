import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './tree.ts';

/**
 * The lock file has no `engines` of other packages. npm compares them with the Node.js that it runs on itself, which may be 20, and
 * warned about a dozen packages; the shop runs on the pinned Node.js 22, or on a found one (`install/trim.ts`).
 * `node test/architecture/lock-file.ts` prints the faults, `npm run lock` fixes the file after `npm install`.
 */
const lockFile = join(root, 'package-lock.json');

type Entry = { engines?: unknown; deprecated?: string };
type LockFile = { packages: Record<string, Entry> };

export function lockFaults({ packages }: LockFile): string[] {
  return Object.entries(packages).flatMap(([path, { engines, deprecated }]) => {
    if (!path.includes('node_modules/')) return [];
    return [
      ...(engines === undefined ? [] : [`package-lock.json: ${path} has engines; npm run lock removes them`]),
      ...(deprecated === undefined ? [] : [`package-lock.json: ${path} is deprecated: ${deprecated}`]),
    ];
  });
}

/** The lock file without `engines` of other packages. */
export function withoutEngines<T extends LockFile>(lock: T): T {
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    if (!path.includes('node_modules/')) return [path, entry] as const;
    const { engines: _, ...rest } = entry;
    return [path, rest] as const;
  });
  return { ...lock, packages: Object.fromEntries(packages) };
}

export const readLock = async (): Promise<LockFile> => JSON.parse(await readFile(lockFile, 'utf8'));

if (import.meta.main) {
  if (process.argv.includes('--write'))
    await writeFile(lockFile, `${JSON.stringify(withoutEngines(await readLock()), null, 2)}\n`);
  const faults = lockFaults(await readLock());
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(faults.length === 0 ? 'lock file: in order\n' : `lock file: ${faults.length} faults\n`);
  process.exit(faults.length === 0 ? 0 : 1);
}
