import type { Readable } from 'node:stream';
import { AppError } from '@tradepost/core';
import { type BodyStream, BodyStreamError } from '@tradepost/http';
import type { Write } from '@tradepost/runtime';
import { uploadFolder } from '../drivers/local/settings.ts';
import type { NamedDriver } from '../drivers/open-drivers.ts';
import { uploadErrors } from '../errors.ts';
import { maxBytes } from '../settings.ts';
import { storageMetrics } from '../storage-metrics.ts';
import { changeDriver, deletePending, type FileOwner, markStored } from './file-store.ts';
import { FolderError, incomingFolder, removeIncoming, writeIncoming } from './incoming-files.ts';
import { openContent, putFile, type Registered, registerFile, type StoredFile } from './new-file.ts';
import { type Form, readForm } from './read-form.ts';
import { removeFiles } from './remove-files.ts';
import type { StorageDeps } from './storage-deps.ts';

export type Upload = {
  readonly body: BodyStream;
  readonly owner: FileOwner;
  /** The driver of the query. It has priority over the field `driver` of the form. */
  readonly driver?: string | undefined;
  /** Runs the transaction that completes the upload. */
  readonly write: Write;
};

/** The name of the driver that the form asks for, when the query names none. */
const nameIn = (fields: ReadonlyMap<string, string>): string | undefined => fields.get('driver')?.trim() || undefined;

/** Moves a complete incoming file to its driver and completes its row. */
async function store(
  deps: StorageDeps,
  upload: Upload,
  registered: Registered,
  { file, size }: { file: string; size: number },
  driver: NamedDriver,
): Promise<StoredFile> {
  const { id, path, mime } = registered;
  const address = await putFile(deps, registered, { file, size }, driver);
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
  const { kind, chunks } = await openContent(deps, file.iterator({ destroyOnReturn: true }));
  // The field of the form may come after the file. Until then the default is assumed.
  const assumed = deps.drivers.choose(upload.driver ?? nameIn(form.fieldsSoFar));
  const registered = await registerFile(deps, upload.owner, kind, assumed);
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
