import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { checkFolder, spaceOf } from '@tradepost/runtime';
import { backupErrors } from '../errors.ts';
import { manifestEntry } from '../format/manifest.ts';
import { isBackupName, sourceIn } from '../format/names.ts';
import { type BackupReader, type BackupWriter, newestFirst, type Place, type StoredBackup } from './place.ts';
import { readTarEntries, TarError, tarEnd, tarHeader, tarPadding } from './tar.ts';

const extension = '.tar';
/** The name of a file that is not complete. It has the id of its database: that of another one may still be written. */
const partialOf = (file: string, source: string) => `${file}.${source}.partial`;
const partial = /^(.*)\.([0-9a-f]{8})\.partial$/;

const codeOf = (error: unknown) => (error as { code?: string }).code;
const sizeOf = (file: string) =>
  stat(file).then(
    (info) => (info.isFile() ? info.size : null),
    () => null,
  );

/** Flushes the names in a folder, so that a finished backup is there after a power failure. Not every system can. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

async function openWriter(file: string, source: string): Promise<BackupWriter> {
  if ((await stat(file).catch(() => null)) !== null) throw backupErrors.already_exists({ place: file });
  const unfinished = partialOf(file, source);
  // An interrupted backup of this database has left it: only one backup of a database is made at a time.
  await rm(unfinished, { force: true });
  const handle = await open(unfinished, 'wx', 0o600);
  let bytes = 0;
  /** Entries are written one after the other. */
  let last: Promise<void> = Promise.resolve();
  const write = async (chunk: Buffer) => {
    await handle.writeFile(chunk);
    bytes += chunk.length;
  };
  return {
    location: file,
    put(entry, content) {
      last = last.then(async () => {
        await write(tarHeader(entry, content.length, new Date()));
        await write(content);
        await write(tarPadding(content.length));
      });
      return last;
    },
    async finish() {
      await last;
      await write(tarEnd);
      await handle.sync();
      await handle.close();
      await rename(unfinished, file);
      await flushFolder(dirname(file));
      return bytes;
    },
    async discard() {
      await last.catch(() => {});
      await handle.close().catch(() => {});
      await rm(unfinished, { force: true });
    },
  };
}

async function readAt(handle: FileHandle, at: number, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  for (let read = 0; read < size; ) {
    const { bytesRead } = await handle.read(bytes, read, size - read, at + read);
    if (bytesRead === 0) return bytes.subarray(0, read);
    read += bytesRead;
  }
  return bytes;
}

async function openReader(file: string): Promise<BackupReader> {
  if (partial.test(file)) throw backupErrors.incomplete({ place: file });
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') throw backupErrors.not_found({ place: file });
    throw error;
  });
  try {
    const entries = await readTarEntries(handle).catch((error: unknown) => {
      if (!(error instanceof TarError)) throw error;
      // An archive up to here, or a file that is named like a backup, was one.
      if (error.at > 0 || isBackupName(basename(file, extension)))
        throw backupErrors.altered({ place: file, part: `tar: ${error.at}` });
      throw backupErrors.no_backup({ place: file });
    });
    if (entries?.at(-1)?.name !== manifestEntry) throw backupErrors.incomplete({ place: file });
    const byName = new Map(entries.map((entry) => [entry.name, entry]));
    return {
      location: file,
      entries: new Map(entries.map(({ name, size }) => [name, size])),
      async read(name) {
        const entry = byName.get(name);
        if (!entry) throw backupErrors.altered({ place: file, part: name });
        const padding = tarPadding(entry.size);
        const bytes = await readAt(handle, entry.at, entry.size + padding.length);
        // Every byte of the file counts, also those that mean nothing.
        if (!bytes.subarray(entry.size).equals(padding)) throw backupErrors.altered({ place: file, part: name });
        return bytes.subarray(0, entry.size);
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A single file, whatever its name. */
export const filePlace = (file: string) => ({
  location: file,
  create: (source: string) => openWriter(file, source),
  open: () => openReader(file),
});

/** The folder of backups. It is made when the first backup is written. */
export function folderPlace(folder: string): Place {
  const fileOf = (name: string) => join(folder, `${name}${extension}`);
  const names = () =>
    readdir(folder).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') throw backupErrors.not_found({ place: folder });
      if (codeOf(error) === 'ENOTDIR') throw backupErrors.no_folder({ place: folder });
      throw error;
    });
  return {
    location: folder,
    async create(name, source) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return openWriter(fileOf(name), source);
    },
    async list() {
      const found: StoredBackup[] = [];
      for (const file of await names()) {
        const isComplete = file.endsWith(extension);
        const name = (partial.exec(file)?.[1] ?? file).slice(0, -extension.length);
        const bytes = isBackupName(name) ? await sizeOf(join(folder, file)) : null;
        if (bytes !== null) found.push({ name, bytes, isComplete });
      }
      return found.sort(newestFirst);
    },
    open: (name) => openReader(fileOf(name)),
    async remove(backups) {
      for (const name of backups) await rm(fileOf(name), { force: true });
    },
    async removeAbandoned(source) {
      for (const file of await readdir(folder).catch(() => [])) {
        const [, name = '', owner] = partial.exec(file) ?? [];
        if (owner === source && sourceIn(name.slice(0, -extension.length)) === source) await rm(join(folder, file));
      }
    },
    async check() {
      const { fault } = await checkFolder(folder);
      if (fault !== null) throw new Error(fault);
    },
    free: async () => (await spaceOf((await checkFolder(folder)).nearest))?.free ?? null,
  };
}
