import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { uploadErrors } from '../errors.ts';
import { lostAfterMs } from '../limits.ts';
import { makeFolder } from './make-folder.ts';

/** The folder of files that are not complete, inside the upload folder: complete files are only renamed. */
export const incomingFolder = (uploadFolder: string): string => join(uploadFolder, '.incoming');

/** Containers may share a host name and a folder, and their process ids overlap. The namespace distinguishes them. */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch {
    return '';
  }
}
const machine = `${hostname().replaceAll(/[^A-Za-z0-9-]/g, '_')}.${pidNamespace()}`;
const processToken = randomBytes(6).toString('hex');
let count = 0;
/** Names the process, so that a later start on this machine knows whether the file is still being written. */
const nextName = (): string => {
  count += 1;
  return `${machine}.${process.pid}.${processToken}.${count}`;
};

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';
/** No space: of the disk, of the quota of the account, or by the limit of the file system or the process for one file. */
export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error));

/** A fault of the folder: it is not writable, its disk is read-only or fails, or something else has its name. */
export class FolderError extends Error {
  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
    this.name = 'FolderError';
  }
}

/** The error of a call of the file system as its caller reports it. */
const folderFault = (error: unknown): Error => (isFull(error) ? uploadErrors.disk_full() : new FolderError(error));
const onDisk = <T>(call: Promise<T>): Promise<T> =>
  call.catch((error: unknown) => {
    throw folderFault(error);
  });

async function createIn(folder: string) {
  await makeFolder(folder);
  const file = join(folder, nextName());
  return { file, handle: await open(file, 'wx', 0o640) };
}

/**
 * Writes the chunks to a new file in the folder. When they fail, or are more than `maxBytes`, nothing remains. Resolves
 * with the file and its size.
 */
export async function writeIncoming(
  folder: string,
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ file: string; size: number }> {
  let created: Awaited<ReturnType<typeof createIn>> | undefined;
  let size = 0;
  try {
    created = await onDisk(createIn(folder));
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > maxBytes) throw uploadErrors.too_large({ limit: maxBytes });
      await onDisk(created.handle.writeFile(chunk));
    }
    await onDisk(created.handle.close());
    return { file: created.file, size };
  } catch (error) {
    await created?.handle.close().catch(() => {});
    // When it can not be removed either, the clean-up removes it later.
    if (created) await removeIncoming(created.file).catch(() => {});
    throw error;
  }
}

/** Removes an incoming file. A driver may have moved it already. */
export const removeIncoming = (file: string): Promise<void> => rm(file, { force: true });

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

/** True when the process that wrote the file has ended. Of another machine only the age of the file is known. */
async function isAbandoned(folder: string, name: string, now: number): Promise<boolean> {
  const [host, namespace, pid, token] = name.split('.');
  if (token === processToken) return false;
  if (`${host}.${namespace}` === machine && (Number(pid) === process.pid || !isRunning(Number(pid)))) return true;
  const info = await stat(join(folder, name)).catch(() => null);
  return info !== null && now - info.mtimeMs > lostAfterMs;
}

/** Removes the files of processes that ended in the middle of an upload. Returns their number. */
export async function removeAbandoned(folder: string, now: Date): Promise<number> {
  const names = await readdir(folder).catch((error: { code?: string }) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  let removed = 0;
  for (const name of names) {
    if (!(await isAbandoned(folder, name, now.getTime()))) continue;
    await removeIncoming(join(folder, name));
    removed += 1;
  }
  return removed;
}
