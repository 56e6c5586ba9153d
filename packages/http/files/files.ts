import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { FastResponse } from 'srvx';
import { fileBytes, maxFileBytes } from './file-bytes.ts';

const types: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** Plain names only: no dot files, no parent folders, no characters that need decoding. */
const safePath = /^(?!.*\.\.)[A-Za-z0-9_-][A-Za-z0-9_.-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/;

/** The bytes of a file, which is opened by the first read. An answer to HEAD is not read, and would leave it open. */
async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file);
}

/**
 * Answers with a file below `folder`, or with 404. `sandbox` switches scripts and plugins off, for files that users
 * uploaded.
 */
export async function fileResponse(
  request: Request,
  folder: string,
  path: string,
  options: { maxAge?: number; sandbox?: boolean } = {},
): Promise<Response> {
  const missing = () => new FastResponse('Not found', { status: 404, headers: [['content-type', 'text/plain']] });
  if (!safePath.test(path)) return missing();
  const file = join(folder, path);
  const info = await stat(file).catch(() => null);
  if (!info?.isFile()) return missing();
  const etag = `"${info.size.toString(36)}-${Math.trunc(info.mtimeMs).toString(36)}"`;
  const headers: [string, string][] = [
    ['etag', etag],
    ['cache-control', `public, max-age=${options.maxAge ?? 3600}`],
    ['access-control-allow-origin', '*'],
    ['x-content-type-options', 'nosniff'],
  ];
  if (options.sandbox)
    headers.push(['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox"]);
  if (request.headers.get('if-none-match') === etag) return new FastResponse(null, { status: 304, headers });
  headers.push(['content-type', types[extname(file).toLowerCase()] ?? 'application/octet-stream']);
  const content = info.size <= maxFileBytes ? fileBytes(file, etag, info.size) : null;
  if (content) {
    const bytes = await content.catch((error: { code?: string }) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    // It was removed meanwhile.
    return bytes ? new FastResponse(bytes, { headers }) : missing();
  }
  // Chunked: uWS warns on stderr about each write of a stream with a length.
  return new FastResponse(ReadableStream.from(bytesOf(file)), { headers });
}
