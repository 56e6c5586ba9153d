import { createHmac, timingSafeEqual } from 'node:crypto';

/** Headers of a signed message, in either direction. */
export const payHeaders = {
  timestamp: 'x-pay-timestamp',
  nonce: 'x-pay-nonce',
  signature: 'x-pay-signature',
} as const;

export type SignedMessage = { timestamp: string; nonce: string; body: string | Uint8Array };

function hmacOf(secret: string, { timestamp, nonce, body }: SignedMessage): Buffer {
  return createHmac('sha256', secret).update(`${timestamp}\n${nonce}\n`).update(body).digest();
}

/** Hex HMAC-SHA256 over `timestamp \n nonce \n body`, the body byte by byte as it is sent. */
export function paySignature(secret: string, message: SignedMessage): string {
  return hmacOf(secret, message).toString('hex');
}

/** In constant time; hex in either case. */
export function isPaySignature(secret: string, message: SignedMessage, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/i.test(signature)) return false;
  return timingSafeEqual(Buffer.from(signature, 'hex'), hmacOf(secret, message));
}

/** The headers of a message signed now. */
export function signedHeaders(secret: string, message: SignedMessage): Record<string, string> {
  return {
    [payHeaders.timestamp]: message.timestamp,
    [payHeaders.nonce]: message.nonce,
    [payHeaders.signature]: paySignature(secret, message),
  };
}
