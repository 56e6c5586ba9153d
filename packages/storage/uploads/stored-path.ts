import { randomBytes } from 'node:crypto';

/**
 * The pattern of a stored path: `2026/11/1795468397123456789_0123456789ab.png`. Regular expressions of JavaScript and of
 * PostgreSQL read it alike.
 */
export const storedPath = '[0-9]{4}/[0-9]{2}/[0-9]{10,20}(?:_[0-9a-f]{12})?[.][a-z0-9]{1,8}';

const whole = new RegExp(`^${storedPath}$`);
const anywhere = new RegExp(storedPath);

export const isStoredPath = (text: string): boolean => whole.test(text);

/** The stored path in an address, or null. */
export const pathIn = (address: string): string | null => anywhere.exec(address)?.[0] ?? null;

/** A new path. Nothing of it comes from the client. `now` is in UTC. */
export function newPath(now: Date, extension: string): string {
  const month = now.toISOString().slice(0, 7).replace('-', '/');
  const nanoseconds = BigInt(now.getTime()) * 1_000_000n + (process.hrtime.bigint() % 1_000_000n);
  return `${month}/${nanoseconds}_${randomBytes(6).toString('hex')}.${extension}`;
}
