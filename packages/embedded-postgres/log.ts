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
 * `poll` passes the complete lines that were written since the last call. A log above the limit is copied and emptied.
 * The server appends to it, so this is safe while it runs; lines that are written during the copy are lost.
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
      // The log is not essential: a full disk or a removed file must not stop the shop.
    }
  };
  return { poll };
}
