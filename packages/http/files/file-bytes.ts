import { readFile } from 'node:fs/promises';

/** Bytes of all files that are kept, and of the largest of them. */
const maxKept = 32 * 1024 * 1024;
const maxFile = 8 * 1024 * 1024;

type Kept = { version: string; size: number; bytes: Promise<Buffer> };
/** By path, the one used longest ago first. */
const kept = new Map<string, Kept>();
let keptBytes = 0;

function forget(file: string, entry: Kept): void {
  if (kept.get(file) !== entry) return;
  kept.delete(file);
  keptBytes -= entry.size;
}

/**
 * The content of a file. Answers with the same file share one buffer, however many clients read it slowly. `version` and
 * `size` (bytes) are those of its present content. The buffer must not be written to.
 */
export function fileBytes(file: string, version: string, size: number): Promise<Buffer> {
  if (size > maxFile) return readFile(file);
  const found = kept.get(file);
  if (found?.version === version) {
    kept.delete(file);
    kept.set(file, found);
    return found.bytes;
  }
  if (found) forget(file, found);
  const entry: Kept = { version, size, bytes: readFile(file) };
  entry.bytes.catch(() => forget(file, entry));
  kept.set(file, entry);
  keptBytes += size;
  for (const [oldest, of] of kept) {
    if (keptBytes <= maxKept) break;
    forget(oldest, of);
  }
  return entry.bytes;
}
