import { storageMetrics } from '../storage-metrics.ts';
import { deleteRemoved, type FileRow, markRemoving } from './file-store.ts';
import type { StorageDeps } from './storage-deps.ts';

/**
 * Removes files: first the rows are marked, then the objects are removed, then the rows are deleted. After an
 * interruption the clean-up continues with the marked rows. Returns the removed rows. When a driver fails, the files
 * of the others are removed, and the first error is thrown at the end.
 */
export async function removeFiles(
  { runtime, drivers }: StorageDeps,
  ids: readonly number[],
  unreferencedBefore: Date | null = null,
): Promise<FileRow[]> {
  if (ids.length === 0) return [];
  const { sql, metrics } = runtime;
  const byDriver = Map.groupBy(await markRemoving(sql, ids, unreferencedBefore), ({ driver }) => driver);
  const removed: FileRow[] = [];
  let failed: unknown = null;
  for (const [name, rows] of byDriver) {
    try {
      const driver = drivers.of(name);
      if (!driver) throw new Error(`no module has the storage driver ${name}`);
      await driver.remove(rows.map(({ path }) => path));
      await deleteRemoved(
        sql,
        rows.map(({ id }) => id),
      );
      storageMetrics(metrics).removed.inc({ driver: name }, rows.length);
      removed.push(...rows);
    } catch (error) {
      failed ??= error;
    }
  }
  if (failed) throw failed;
  return removed;
}
