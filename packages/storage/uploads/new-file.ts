import { AppError } from '@tradepost/core';
import type { NamedDriver } from '../drivers/open-drivers.ts';
import { uploadErrors } from '../errors.ts';
import { allowedExtensions, uploadsPerHour } from '../settings.ts';
import { type FileKind, headBytes, kindOf } from './file-kinds.ts';
import { type FileOwner, insertPending } from './file-store.ts';
import { isFull } from './incoming-files.ts';
import type { StorageDeps } from './storage-deps.ts';
import { newPath } from './stored-path.ts';

/** A stored file. `address` is what tables store. */
export type StoredFile = { path: string; address: string; size: number; mime: string };

/**
 * The kind of a new file by its first bytes, and all its chunks. Refuses an empty file and one of another kind. With `imagesOnly`
 * other kinds are refused that the shop takes.
 */
export async function openContent(
  { runtime }: StorageDeps,
  content: AsyncIterable<Uint8Array>,
  { imagesOnly = false } = {},
): Promise<{ kind: FileKind; chunks: AsyncIterable<Uint8Array> }> {
  const iterator = content[Symbol.asyncIterator]();
  const rest = { [Symbol.asyncIterator]: () => iterator };
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < headBytes) {
    const { done, value } = await iterator.next();
    if (done) break;
    first.push(value);
    length += value.length;
  }
  const head = Buffer.concat(first).subarray(0, headBytes);
  if (head.length === 0) throw uploadErrors.empty_file();
  const allowed = runtime.settings.get(allowedExtensions);
  const kind = kindOf(head, allowed);
  if (!kind || (imagesOnly && !kind.isImage)) {
    await iterator.return?.();
    throw uploadErrors.wrong_type({ allowed: allowed.join(', ') });
  }
  async function* chunks() {
    yield* first;
    yield* rest;
  }
  return { kind, chunks: chunks() };
}

/** The path and the row of a new file. */
export async function registerFile(deps: StorageDeps, owner: FileOwner, kind: FileKind, driver: NamedDriver) {
  const { sql, settings, now } = deps.runtime;
  const path = newPath(now(), kind.extensions[0]);
  const limit = settings.get(uploadsPerHour);
  const id = await insertPending(sql, { driver: driver.name, path, mime: kind.mime, owner }, limit);
  if (id === null) throw uploadErrors.too_many_uploads({ limit });
  return { id, path, mime: kind.mime };
}
export type Registered = Awaited<ReturnType<typeof registerFile>>;

/** Gives a complete incoming file to its driver. Returns the address of the object. */
export async function putFile(
  { runtime }: StorageDeps,
  { path, mime }: Registered,
  { file, size }: { file: string; size: number },
  driver: NamedDriver,
): Promise<string> {
  const address = driver.addressOf(path);
  await driver.put({ file, path, mime, size }).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    if (isFull(error)) throw uploadErrors.disk_full();
    runtime.log.error({ err: error, driver: driver.name, path }, 'an uploaded file could not be stored');
    throw uploadErrors.driver_failed({ driver: driver.name });
  });
  return address;
}
