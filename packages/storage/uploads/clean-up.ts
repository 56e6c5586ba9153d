import { uploadFolder } from '../drivers/local/settings.ts';
import { lostAfterMs, sweepBatch } from '../limits.ts';
import { selectUnfinished } from './file-store.ts';
import { incomingFolder, removeAbandoned } from './incoming-files.ts';
import { removeFiles } from './remove-files.ts';
import type { StorageDeps } from './storage-deps.ts';

/** Removes what uploads and removals left behind whose process ended in the middle: incoming files, objects and rows. */
export async function cleanUp(deps: StorageDeps): Promise<{ incoming: number; files: number }> {
  const { sql, config, settings, now } = deps.runtime;
  const incoming = await removeAbandoned(incomingFolder(uploadFolder({ config, settings })), now());
  const lost = await selectUnfinished(sql, new Date(now().getTime() - lostAfterMs), sweepBatch);
  return { incoming, files: (await removeFiles(deps, lost)).length };
}
