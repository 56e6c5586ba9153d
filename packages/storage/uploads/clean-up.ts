import { uploadFolder } from '../drivers/local/settings.ts';
import { lostAfterMs, sweepBatch } from '../limits.ts';
import { reopenRemovals, selectUnfinished } from './file-store.ts';
import { incomingFolder, removeAbandoned } from './incoming-files.ts';
import { removeFiles } from './remove-files.ts';
import type { StorageDeps } from './storage-deps.ts';

/**
 * Removes what uploads left behind whose process ended in the middle: incoming files, objects and rows. Interrupted
 * removals of stored files go back to the sweep.
 */
export async function cleanUp(deps: StorageDeps): Promise<{ incoming: number; files: number }> {
  const { sql, config, settings, now } = deps.runtime;
  const incoming = await removeAbandoned(incomingFolder(uploadFolder({ config, settings })), now());
  const before = new Date(now().getTime() - lostAfterMs);
  await reopenRemovals(sql, before);
  const lost = await selectUnfinished(sql, before, sweepBatch);
  return { incoming, files: (await removeFiles(deps, lost)).length };
}
