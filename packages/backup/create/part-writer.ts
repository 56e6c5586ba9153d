import pLimit from 'p-limit';
import { type Compression, codecOf } from '../format/compression.ts';
import { type Part, sha256Of } from '../format/manifest.ts';
import { partsAtOnce } from '../limits.ts';
import type { BackupWriter } from '../places/place.ts';

/** Compresses parts and writes them, a few at once. `add` waits for a slot, which bounds the memory. */
export function openPartWriter(writer: BackupWriter, compression: Compression) {
  const { compress } = codecOf(compression);
  const limit = pLimit(partsAtOnce);
  const parts: Part[] = [];
  const open = new Set<Promise<void>>();
  let failed: { error: unknown } | null = null;

  const write = async (name: string, raw: Buffer, of: Pick<Part, 'table' | 'rows'>) => {
    const bytes = await compress(raw);
    await writer.put(name, bytes);
    parts.push({ name, ...of, bytes: bytes.length, raw_bytes: raw.length, sha256: sha256Of(bytes) });
  };
  let rowParts = 0;
  let fileParts = 0;
  return {
    async add(raw: Buffer, of: Pick<Part, 'table' | 'rows'>): Promise<void> {
      const number = of.table === null ? ++fileParts : ++rowParts;
      const name = `${of.table === null ? 'files' : 'rows'}-${String(number).padStart(7, '0')}`;
      const task = limit(() => write(name, raw, of))
        .catch((error: unknown) => {
          failed ??= { error };
        })
        .finally(() => open.delete(task));
      open.add(task);
      while (open.size >= partsAtOnce) await Promise.race(open);
      if (failed) throw failed.error;
    },
    /** Resolves when nothing is being written. */
    async settle(): Promise<void> {
      await Promise.all(open);
    },
    /** Resolves with all parts, in the order of their names, when they are written. */
    async end(): Promise<Part[]> {
      await Promise.all(open);
      if (failed) throw failed.error;
      return parts.sort((a, b) => a.name.localeCompare(b.name));
    },
  };
}
export type PartWriter = ReturnType<typeof openPartWriter>;
