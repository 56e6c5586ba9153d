import { createHash, timingSafeEqual } from 'node:crypto';

export type SignedParts = { app_key: string; timestamp: string; nonce: string; body: string };

/** Lowercase hex SHA-256 over the parts and the secret with line feeds between them. `body` is signed byte for byte. */
export function externalSignature({ app_key, timestamp, nonce, body }: SignedParts, secret: string): string {
  return createHash('sha256').update([app_key, timestamp, nonce, body, secret].join('\n')).digest('hex');
}

/** Whether `sign` is the signature of these parts. Upper case is accepted. The comparison takes constant time. */
export function signatureFits(parts: SignedParts, secret: string, sign: string): boolean {
  const expected = Buffer.from(externalSignature(parts, secret), 'utf8');
  const given = Buffer.from(sign.toLowerCase(), 'utf8');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
