import { createHmac, timingSafeEqual } from 'node:crypto';

/** The headers of a signed message, sent by the shop or by the provider. */
export const payHeaders = {
  timestamp: 'x-pay-timestamp',
  nonce: 'x-pay-nonce',
  signature: 'x-pay-signature',
} as const;

export type SignedMessage = { timestamp: string; nonce: string; body: string | Uint8Array };

function hmacOf(secret: string, { timestamp, nonce, body }: SignedMessage): Buffer {
  return createHmac('sha256', secret).update(`${timestamp}\n${nonce}\n`).update(body).digest();
}

/** Hex HMAC-SHA256 over `timestamp \n nonce \n body`. The body is signed as the bytes that are sent. */
export function paySignature(secret: string, message: SignedMessage): string {
  return hmacOf(secret, message).toString('hex');
}

/** Compares in constant time. The hex digits may be upper or lower case. */
export function isPaySignature(secret: string, message: SignedMessage, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/i.test(signature)) return false;
  return timingSafeEqual(Buffer.from(signature, 'hex'), hmacOf(secret, message));
}

/** The headers of a signed message. */
export function signedHeaders(secret: string, message: SignedMessage): Record<string, string> {
  return {
    [payHeaders.timestamp]: message.timestamp,
    [payHeaders.nonce]: message.nonce,
    [payHeaders.signature]: paySignature(secret, message),
  };
}
