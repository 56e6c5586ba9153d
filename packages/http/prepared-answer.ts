import { createHash } from 'node:crypto';
import { envelope } from './routing/envelope.ts';

/** An answer that was serialised before the request, with its ETag. A route with `etag` returns it. */
export class PreparedAnswer<T = unknown> {
  /** Keeps the type of the data. It has no value. */
  declare readonly data: T;
  /** UTF-8. Bytes are sent faster than a text, which would be encoded for each request. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  /** The client may keep the answer, and asks before each use whether it is still valid. */
  readonly headers: readonly [string, string][];

  constructor(data: T) {
    this.bytes = new TextEncoder().encode(envelope(0, 'success', data));
    this.etag = `"${createHash('sha256').update(this.bytes).digest('base64url').slice(0, 27)}"`;
    this.headers = [
      ['etag', this.etag],
      ['cache-control', 'no-cache'],
    ];
  }
}

const listed = /(?:W\/)?("[^"]*")/g;

/**
 * Whether If-None-Match names this ETag: `*`, one ETag, or a list. Weak ones count, because a proxy that compresses makes
 * an ETag weak (RFC 9110, 13.1.2).
 */
export function namesEtag(header: string | null, etag: string): boolean {
  if (!header) return false;
  if (header === etag || header.trim() === '*') return true;
  for (const [, one] of header.matchAll(listed)) if (one === etag) return true;
  return false;
}
