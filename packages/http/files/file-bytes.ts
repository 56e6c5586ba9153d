import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';

const maxCachedBytes = 32 * 1024 * 1024;
/** A larger file is streamed: slow readers would otherwise each hold a copy of it. */
export const maxFileBytes = 8 * 1024 * 1024;

type Entry = { readonly version: string; readonly size: number; readonly bytes: Promise<Buffer> };

const cache = new LRUCache<string, Entry>({
  maxSize: maxCachedBytes,
  // An entry must count at least 1: a file may be empty.
  sizeCalculation: ({ size }) => Math.max(1, size),
});

/**
 * The content of a file. Responses with the same file share one buffer, however many clients read it slowly. `version` and
 * `size` (at most `maxFileBytes`) describe the present content. The caller must not write to the buffer.
 */
export function fileBytes(file: string, version: string, size: number): Promise<Buffer> {
  const found = cache.get(file);
  if (found?.version === version) return found.bytes;
  const entry: Entry = { version, size, bytes: readFile(file) };
  entry.bytes.catch(() => {
    if (cache.peek(file) === entry) cache.delete(file);
  });
  cache.set(file, entry);
  return entry.bytes;
}
