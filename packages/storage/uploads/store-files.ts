import type { Transaction } from '@tradepost/postgres';
import type { Write } from '@tradepost/runtime';
import { uploadFolder } from '../drivers/local/settings.ts';
import { uploadErrors } from '../errors.ts';
import { maxBytes } from '../settings.ts';
import { storageMetrics } from '../storage-metrics.ts';
import { type FileOwner, markStored } from './file-store.ts';
import { FolderError, incomingFolder, removeIncoming, writeIncoming } from './incoming-files.ts';
import { openContent, putFile, registerFile, type StoredFile } from './new-file.ts';
import { removeFiles } from './remove-files.ts';
import type { StorageDeps } from './storage-deps.ts';

/** Files that the shop makes itself, such as pictures of a service. */
export type NewFiles<T> = {
  readonly contents: readonly AsyncIterable<Uint8Array>[];
  /** Refuses contents that are no images, also where the shop takes other uploads. */
  readonly imagesOnly?: boolean;
  /** The account that asked for them. They count as its uploads. */
  readonly owner: FileOwner;
  /** Runs the transaction that completes the files. */
  readonly write: Write;
  /** Writes the rows that refer to the files, in that transaction. When it throws, the files are removed. */
  readonly record: (tx: Transaction, files: readonly StoredFile[]) => Promise<T>;
};

/**
 * Stores all these files or none, together with the rows of `record`: the files of a process that is killed before the
 * commit are removed by the clean-up. Refuses what an upload refuses.
 */
export async function storeFiles<T>(deps: StorageDeps, given: NewFiles<T>): Promise<T> {
  const { contents, imagesOnly = false, owner, write, record } = given;
  const { settings, config, metrics, log } = deps.runtime;
  const driver = deps.drivers.choose(undefined);
  const folder = incomingFolder(uploadFolder({ config, settings }));
  const files: (StoredFile & { id: number })[] = [];
  const ids: number[] = [];
  try {
    for (const content of contents) {
      const { kind, chunks } = await openContent(deps, content, { imagesOnly });
      const registered = await registerFile(deps, owner, kind, driver);
      ids.push(registered.id);
      const incoming = await writeIncoming(folder, chunks, settings.get(maxBytes));
      try {
        const address = await putFile(deps, registered, incoming, driver);
        files.push({ ...registered, address, size: incoming.size });
      } finally {
        await removeIncoming(incoming.file);
      }
    }
    const recorded = await write(async (tx) => {
      if ((await markStored(tx, files)).length < files.length)
        throw new Error('the files took too long and were cleaned up');
      return record(tx, files);
    });
    const { uploads, bytes } = storageMetrics(metrics);
    for (const { size } of files) {
      uploads.inc({ driver: driver.name, result: 'stored' });
      bytes.inc({ driver: driver.name }, size);
    }
    return recorded;
  } catch (error) {
    // Rows that are stored stay: the commit may have succeeded although its answer was lost.
    await removeFiles(deps, ids).catch((reason: unknown) =>
      log.warn({ err: reason, files: ids }, 'files that were not completed are cleaned up later'),
    );
    if (!(error instanceof FolderError)) throw error;
    log.error({ err: error.cause }, 'a file could not be written to the folder for incoming files');
    throw uploadErrors.folder_failed();
  }
}
