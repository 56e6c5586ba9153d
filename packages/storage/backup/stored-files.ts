import type { Queryable } from '@tradepost/postgres';
import type { DriverRuntime, StorageDriverEntry } from '../drivers/driver.ts';
import { uploadFolder } from '../drivers/local/settings.ts';
import { openDrivers } from '../drivers/open-drivers.ts';
import { selectFilesAfter } from '../uploads/file-store.ts';
import { incomingFolder, removeIncoming, writeIncoming } from '../uploads/incoming-files.ts';
import { isStoredPath } from '../uploads/stored-path.ts';

/** A stored file as a backup names it. */
export type BackedUpFile = {
  readonly driver: string;
  readonly path: string;
  readonly mime: string;
  readonly size: number;
};

/** Reads and writes the uploaded files of a shop for its backups. */
export type StoredFiles = {
  /** The stored files that the rows of this transaction name. `isIncluded` chooses by the driver. */
  list(tx: Queryable, isIncluded: (driver: string) => boolean): AsyncGenerator<BackedUpFile>;
  /** The content of a file, or null when it no longer exists. */
  read(file: BackedUpFile): Promise<AsyncIterable<Uint8Array> | null>;
  /**
   * Writes a file where its driver has it. A file that exists stays: a stored file never changes. Rejects with the reason when
   * the driver cannot be used.
   */
  write(file: BackedUpFile, content: AsyncIterable<Uint8Array>): Promise<'written' | 'present'>;
};

const listed = 1_000;

/** The files of the shop with these settings. The database is not read before `list` is called. */
export function openStoredFiles(runtime: DriverRuntime, entries: readonly StorageDriverEntry[]): StoredFiles {
  const drivers = openDrivers(runtime, entries);
  const driverOf = (name: string) => {
    const driver = drivers.of(name);
    if (!driver) throw new Error(`no module has the storage driver ${name}`);
    driver.ready();
    return driver;
  };
  return {
    async *list(tx, isIncluded) {
      for (let after = 0; ; ) {
        const files = await selectFilesAfter(tx, after, listed);
        for (const { driver, path, mime, size } of files) if (isIncluded(driver)) yield { driver, path, mime, size };
        if (files.length < listed) return;
        after = files.at(-1)!.id;
      }
    },
    read: (file) => driverOf(file.driver).read(file.path),
    async write(file, content) {
      const { driver: name, path, mime, size } = file;
      // The path comes from a backup, and becomes the name of a file.
      if (!isStoredPath(path)) throw new Error(`not a stored path: ${path}`);
      const driver = driverOf(name);
      if (await driver.has(path)) return 'present';
      const incoming = await writeIncoming(incomingFolder(uploadFolder(runtime)), content, size);
      try {
        if (incoming.size !== size) throw new Error(`${incoming.size} bytes instead of ${size}`);
        await driver.put({ file: incoming.file, path, mime, size: incoming.size });
      } finally {
        await removeIncoming(incoming.file);
      }
      return 'written';
    },
  };
}
