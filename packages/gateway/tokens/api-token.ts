import { hash, randomBytes } from 'node:crypto';

/** The part of a token that the limiter needs. The object stays the same until the token changes. */
export type ApiToken = {
  readonly id: number;
  readonly userId: number;
  /** null inherits the user's value, 0 is unlimited. */
  readonly rpmLimit: number | null;
  readonly tpmLimit: number | null;
  /** null inherits the default of the settings. */
  readonly userRpmLimit: number | null;
  readonly userTpmLimit: number | null;
  /** Unix ms. */
  readonly expiresAt: number | null;
};

/** `disabled`: the account of the token is disabled or deleted. */
export type TokenRefusal = 'unknown' | 'revoked' | 'expired' | 'disabled';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const mark = 'tp-';
/** Characters of the secret that are stored, to recognize it. */
const prefixLength = mark.length + 8;
/** 40 characters after the stored prefix: 238 random bits. */
const randomLength = 48;
const shape = new RegExp(`^${mark}[${digits}]{${randomLength}}$`);

/** Whether a text has the form of a secret. Another text needs no query. */
export const isSecret = (text: string): boolean => shape.test(text);

/** All digits are equally likely: bytes from 248 on are skipped, because they would favour the first digits. */
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

/** A fast hash is enough, because a random secret cannot be guessed. */
export const digestOf = (secret: string): string => hash('sha256', secret, 'base64');
const bytesOf = (digest: string): Buffer => Buffer.from(digest, 'base64');

export function newSecret(): NewSecret {
  const secret = mark + randomDigits(randomLength);
  return { secret, prefix: secret.slice(0, prefixLength), hash: bytesOf(digestOf(secret)) };
}

/** The largest limit. Below it sums stay exact. */
export const maxLimit = 1_000_000_000_000;

export type TokenStatus = 'active' | 'revoked' | 'expired';
export const tokenStatuses = ['active', 'revoked', 'expired'] as const satisfies readonly TokenStatus[];

export function statusOf(row: { revoked_at: Date | null; expires_at: Date | null }, now: Date): TokenStatus {
  if (row.revoked_at) return 'revoked';
  return row.expires_at && row.expires_at <= now ? 'expired' : 'active';
}
