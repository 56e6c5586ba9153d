import { closeSync, copyFileSync, openSync, readSync, statSync, truncateSync } from 'node:fs';

const chunkBytes = 256 * 1024;
const limitBytes = 8 * 2 ** 20;

export function readFrom(path: string, from: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(chunkBytes);
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from));
  } finally {
    closeSync(file);
  }
}

/**
 * Hands on whole lines written since. The log is copied and emptied beyond its limit: its writers append, so this is
 * safe while a server writes, at the price of lines written during the copy.
 */
export function followLog(path: string, onLine: (line: string) => void): { poll: () => void } {
  const sizeOf = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let offset = sizeOf();
  const poll = () => {
    try {
      for (let size = sizeOf(); size !== offset; ) {
        if (size < offset) offset = 0;
        const chunk = readFrom(path, offset);
        const end = chunk.lastIndexOf(10) + 1 || (chunk.length === chunkBytes ? chunk.length : 0);
        if (end === 0) break;
        offset += end;
        for (const line of chunk.toString('utf8', 0, end).trimEnd().split('\n')) onLine(line);
        if (offset >= size) break;
      }
      if (sizeOf() < limitBytes) return;
      copyFileSync(path, `${path}.1`);
      truncateSync(path);
      offset = 0;
    } catch {
      // The log is a convenience: a full disk or a removed file must not take the shop down.
    }
  };
  return { poll };
}
