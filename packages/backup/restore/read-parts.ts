import { backupErrors } from '../errors.ts';
import { codecOf } from '../format/compression.ts';
import { type Manifest, manifestEntry, type Part, readManifest, sha256Of } from '../format/manifest.ts';
import { maxManifestBytes } from '../limits.ts';
import type { BackupReader } from '../places/place.ts';

/** A backup whose manifest is valid and whose parts are all there. */
export type OpenedBackup = {
  readonly location: string;
  readonly bytes: number;
  readonly manifest: Manifest;
  /** The content of a part. Refuses one with a wrong checksum. */
  readPart(part: Part): Promise<Buffer>;
  close(): Promise<void>;
};

/** Reads the manifest and compares the entries with it. Parts are checked when they are read. */
async function openManifest(reader: BackupReader): Promise<OpenedBackup> {
  const { location, entries } = reader;
  if ((entries.get(manifestEntry) ?? 0) > maxManifestBytes) throw backupErrors.no_backup({ place: location });
  const text = await reader.read(manifestEntry);
  const manifest = readManifest(text.toString('utf8'), location);
  const known = new Map(manifest.parts.map(({ name, bytes }) => [name, bytes]));
  for (const [name, size] of entries)
    if (name !== manifestEntry && known.get(name) !== size) throw backupErrors.altered({ place: location, part: name });
  const missing = manifest.parts.find(({ name }) => !entries.has(name));
  if (missing) throw backupErrors.altered({ place: location, part: missing.name });
  const { decompress } = codecOf(manifest.compression);
  return {
    ...{ location, manifest },
    bytes: [...entries.values()].reduce((sum, size) => sum + size, 0),
    async readPart({ name, bytes, raw_bytes, sha256 }) {
      const stored = await reader.read(name);
      const altered = backupErrors.altered({ place: location, part: name });
      if (stored.length !== bytes || sha256Of(stored) !== sha256) throw altered;
      const raw = await decompress(stored, { maxOutputLength: Math.max(raw_bytes, 1) }).catch(() => {
        throw altered;
      });
      if (raw.length !== raw_bytes) throw altered;
      return raw;
    },
    close: () => reader.close(),
  };
}

/** Opens a backup for `work` and closes it. */
export async function withBackup<T>(
  reader: Promise<BackupReader>,
  work: (backup: OpenedBackup) => Promise<T>,
): Promise<T> {
  const opened = await reader;
  try {
    return await work(await openManifest(opened));
  } finally {
    await opened.close();
  }
}
