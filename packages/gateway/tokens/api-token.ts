import { hash, randomBytes } from 'node:crypto';

/** What a request is counted and limited by; the same object for as long as nothing about it has changed. */
export type ApiToken = {
  readonly id: number;
  readonly userId: number;
  /** null inherits the user's value, 0 is unlimited. */
  readonly rpmLimit: number | null;
  readonly tpmLimit: number | null;
  /** null inherits the default of the settings. */
  readonly userRpmLimit: number | null;
  readonly userTpmLimit: number | null;
  /** ms */
  readonly expiresAt: number | null;
};

/** `disabled`: the account it belongs to is disabled or gone. */
export type TokenRefusal = 'unknown' | 'revoked' | 'expired' | 'disabled';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const mark = 'tp-';
/** Characters of the secret that are stored, for recognition. */
const prefixLength = mark.length + 8;
/** 40 characters beyond the stored prefix: 238 bits that nobody can guess. */
const randomLength = 48;
const shape = new RegExp(`^${mark}[${digits}]{${randomLength}}$`);

/** Whether it can be one of ours at all: what is not needs no query. */
export const isSecret = (text: string): boolean => shape.test(text);

/** Every digit is as likely as any other: bytes from 248 on, which would favour the first ones, are thrown away. */
function randomDigits(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 4 * digits.length) text += digits[byte % digits.length];
      if (text.length === length) break;
    }
  }
  return text;
}

export type NewSecret = { readonly secret: string; readonly prefix: string; readonly hash: Buffer };

/** A random secret needs no slow hash: there is nothing to guess it from. */
export const digestOf = (secret: string): string => hash('sha256', secret, 'base64');
const bytesOf = (digest: string): Buffer => Buffer.from(digest, 'base64');

export function newSecret(): NewSecret {
  const secret = mark + randomDigits(randomLength);
  return { secret, prefix: secret.slice(0, prefixLength), hash: bytesOf(digestOf(secret)) };
}

/** Of every limit: above it none means anything, and sums stay exact. */
export const maxLimit = 1_000_000_000_000;

export type TokenStatus = 'active' | 'revoked' | 'expired';
export const tokenStatuses = ['active', 'revoked', 'expired'] as const satisfies readonly TokenStatus[];

export function statusOf(row: { revoked_at: Date | null; expires_at: Date | null }, now: Date): TokenStatus {
  if (row.revoked_at) return 'revoked';
  return row.expires_at && row.expires_at <= now ? 'expired' : 'active';
}
