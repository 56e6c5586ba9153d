import { createHash, timingSafeEqual } from 'node:crypto';

export type SignedParts = { app_key: string; timestamp: string; nonce: string; body: string };

/** Lowercase hex SHA-256 over the parts and the secret, line feeds between (spec 2, Signature); `body` byte for byte. */
export function externalSignature({ app_key, timestamp, nonce, body }: SignedParts, secret: string): string {
  return createHash('sha256').update([app_key, timestamp, nonce, body, secret].join('\n')).digest('hex');
}

/** Whether `sign` is the signature of these parts; either case of its letters, compared in constant time. */
export function signatureFits(parts: SignedParts, secret: string, sign: string): boolean {
  const wanted = Buffer.from(externalSignature(parts, secret), 'utf8');
  const given = Buffer.from(sign.toLowerCase(), 'utf8');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
