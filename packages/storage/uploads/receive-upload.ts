import type { Readable } from 'node:stream';
import { AppError } from '@tradepost/core';
import { type BodyStream, BodyStreamError } from '@tradepost/http';
import type { Write } from '@tradepost/runtime';
import { uploadFolder } from '../drivers/local/settings.ts';
import type { NamedDriver } from '../drivers/open-drivers.ts';
import { uploadErrors } from '../errors.ts';
import { allowedExtensions, maxBytes, uploadsPerHour } from '../settings.ts';
import { storageMetrics } from '../storage-metrics.ts';
import { type FileKind, headBytes, kindOf } from './file-kinds.ts';
import { changeDriver, deletePending, type FileOwner, insertPending, markStored } from './file-store.ts';
import { FolderError, incomingFolder, isFull, removeIncoming, writeIncoming } from './incoming-files.ts';
import { type Form, readForm } from './read-form.ts';
import { removeFiles } from './remove-files.ts';
import type { StorageDeps } from './storage-deps.ts';
import { newPath } from './stored-path.ts';

export type Upload = {
  readonly body: BodyStream;
  readonly owner: FileOwner;
  /** The driver of the query. It has priority over the field `driver` of the form. */
  readonly driver?: string | undefined;
  /** Runs the transaction that completes the upload. */
  readonly write: Write;
};

/** A stored file. `address` is what tables store. */
export type StoredFile = { path: string; address: string; size: number; mime: string };

/** The first bytes of a file and all its chunks, these bytes included. */
async function openFile(file: Readable): Promise<{ head: Buffer; chunks: AsyncIterable<Uint8Array> }> {
  const rest = file.iterator({ destroyOnReturn: true }) as AsyncIterator<Buffer> & AsyncIterable<Buffer>;
  const first: Buffer[] = [];
  let length = 0;
  while (length < headBytes) {
    const { done, value } = await rest.next();
    if (done) break;
    first.push(value);
    length += value.length;
  }
  async function* chunks() {
    yield* first;
    yield* rest;
  }
  return { head: Buffer.concat(first).subarray(0, headBytes), chunks: chunks() };
}

/** The name of the driver that the form asks for, when the query names none. */
const nameIn = (fields: ReadonlyMap<string, string>): string | undefined => fields.get('driver')?.trim() || undefined;

/** The path and the row of a new file. */
async function register(deps: StorageDeps, upload: Upload, kind: FileKind, driver: NamedDriver) {
  const { sql, settings, now } = deps.runtime;
  const path = newPath(now(), kind.extensions[0]);
  const limit = settings.get(uploadsPerHour);
  const id = await insertPending(sql, { driver: driver.name, path, mime: kind.mime, owner: upload.owner }, limit);
  if (id === null) throw uploadErrors.too_many_uploads({ limit });
  return { id, path, mime: kind.mime };
}
type Registered = Awaited<ReturnType<typeof register>>;

/** Moves a complete incoming file to its driver and completes its row. */
async function store(
  deps: StorageDeps,
  upload: Upload,
  { id, path, mime }: Registered,
  { file, size }: { file: string; size: number },
  driver: NamedDriver,
): Promise<StoredFile> {
  const address = driver.addressOf(path);
  await driver.put({ file, path, mime, size }).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    if (isFull(error)) throw uploadErrors.disk_full();
    deps.runtime.log.error({ err: error, driver: driver.name, path }, 'an uploaded file could not be stored');
    throw uploadErrors.driver_failed({ driver: driver.name });
  });
  const stored = await upload.write(async (tx) => {
    const ids = await markStored(tx, [{ id, address, size }]);
    if (ids.length === 0) throw new Error(`the upload of ${path} took too long and was cleaned up`);
    return { path, address, size, mime };
  });
  // The repeat of a request whose process died after its commit: the answer names the first file.
  if (stored.path !== path) await removeFiles(deps, [id]);
  return stored;
}

/** Receives the rest of a form after its file began. */
async function receiveFile(deps: StorageDeps, upload: Upload, form: Form, file: Readable): Promise<StoredFile> {
  const { settings, config, sql } = deps.runtime;
  const { head, chunks } = await openFile(file);
  if (head.length === 0) throw uploadErrors.empty_file();
  const allowed = settings.get(allowedExtensions);
  const kind = kindOf(head, allowed);
  if (!kind) throw uploadErrors.wrong_type({ allowed: allowed.join(', ') });
  // The field of the form may come after the file. Until then the default is assumed.
  const assumed = deps.drivers.choose(upload.driver ?? nameIn(form.fieldsSoFar));
  const registered = await register(deps, upload, kind, assumed);
  let incoming: { file: string; size: number } | undefined;
  let isPut = false;
  try {
    const folder = incomingFolder(uploadFolder({ config, settings }));
    incoming = await writeIncoming(folder, chunks, settings.get(maxBytes));
    const driver = deps.drivers.choose(upload.driver ?? nameIn(await form.fields));
    if (driver.name !== assumed.name) await changeDriver(sql, registered.id, driver.name);
    isPut = true;
    const stored = await store(deps, upload, registered, incoming, driver);
    const { uploads, bytes } = storageMetrics(deps.runtime.metrics);
    uploads.inc({ driver: driver.name, result: 'stored' });
    bytes.inc({ driver: driver.name }, stored.size);
    return stored;
  } catch (error) {
    // Before `put` there is no object, so its driver is not asked. When this fails too, the row stays, and the clean-up
    // repeats the removal.
    const undone = isPut ? removeFiles(deps, [registered.id]) : deletePending(sql, registered.id);
    await undone.catch((reason: unknown) =>
      deps.runtime.log.warn({ err: reason, path: registered.path }, 'a failed upload is cleaned up later'),
    );
    if (!(error instanceof FolderError)) throw error;
    deps.runtime.log.error(
      { err: error.cause },
      'an uploaded file could not be written to the folder for incoming files',
    );
    throw uploadErrors.folder_failed();
  } finally {
    if (incoming) await removeIncoming(incoming.file);
  }
}

/** Refusals because of a fault of the shop, not of the request. Operators have an alert for failed uploads. */
const faults = [uploadErrors.disk_full, uploadErrors.driver_failed, uploadErrors.folder_failed].map(
  ({ refusalName }) => refusalName,
);

function resultOf(error: unknown): 'refused' | 'incomplete' | 'failed' {
  if (error instanceof BodyStreamError) return 'incomplete';
  return error instanceof AppError && !faults.includes(error.refusalName) ? 'refused' : 'failed';
}

/**
 * Receives one file of a multipart form. The file is written to the folder for incoming files, and given to its driver
 * when the whole form has been read. Rejects with a refusal, or with the error of the body; then nothing remains.
 */
export async function receiveUpload(deps: StorageDeps, upload: Upload): Promise<StoredFile> {
  let form: Form | undefined;
  try {
    // A driver that the query names is checked before anything is read.
    if (upload.driver !== undefined) deps.drivers.choose(upload.driver);
    form = readForm(upload.body);
    const file = await form.file;
    if (!file) throw uploadErrors.no_file();
    return await receiveFile(deps, upload, form, file);
  } catch (error) {
    const reason = form?.failure() ?? error;
    form?.cancel();
    storageMetrics(deps.runtime.metrics).uploads.inc({ driver: '', result: resultOf(reason) });
    throw reason;
  }
}
