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
 * All contents that are in memory: those in the cache, and those that left it while slow clients read them. Without this
 * bound, a client that reads more files than the cache holds, each slowly, would fill the memory.
 */
const maxHeldBytes = 128 * 1024 * 1024;
let heldBytes = 0;
const freed = new FinalizationRegistry<number>((size) => {
  heldBytes -= size;
});

async function read(file: string, size: number): Promise<Buffer> {
  heldBytes += size;
  try {
    const bytes = await readFile(file);
    freed.register(bytes, size);
    return bytes;
  } catch (error) {
    heldBytes -= size;
    throw error;
  }
}

/**
 * The content of a file, or null when there is no room for it. Responses with the same file share one buffer, however many
 * clients read it slowly. `version` and `size` (at most `maxFileBytes`) describe the present content. The caller must not
 * write to the buffer.
 */
export function fileBytes(file: string, version: string, size: number): Promise<Buffer> | null {
  const found = cache.get(file);
  if (found?.version === version) return found.bytes;
  if (heldBytes + size > maxHeldBytes) return null;
  const entry: Entry = { version, size, bytes: read(file, size) };
  entry.bytes.catch(() => {
    if (cache.peek(file) === entry) cache.delete(file);
  });
  cache.set(file, entry);
  return entry.bytes;
}
