import { selectStoredFile } from './file-store.ts';
import type { StorageDeps } from './storage-deps.ts';
import { pathIn } from './stored-path.ts';

/** An upload of this shop. `file` is its file on this machine; null when it is in object storage, at `address`. */
export type FoundUpload = { address: string; size: number; mime: string; file: string | null };

/** The upload with this address or URL. Null when this shop has none. */
export async function findUpload({ runtime, drivers }: StorageDeps, address: string): Promise<FoundUpload | null> {
  const path = pathIn(address);
  const row = path === null ? undefined : await selectStoredFile(runtime.sql, path);
  if (!row) return null;
  const file = drivers.of(row.driver)?.fileOf?.(row.path) ?? null;
  return { address: row.address, size: row.size, mime: row.mime, file };
}
