import { createHmac } from 'node:crypto';
import { keyOf } from '../endpoints/endpoint-secrets.ts';

/** The headers of the Standard Webhooks specification. Each secret makes a signature: during a rotation there are two. */
export function signedHeaders(
  message: { id: string; body: string; at: Date },
  secrets: readonly string[],
): Record<string, string> {
  const seconds = Math.floor(message.at.getTime() / 1_000);
  const signed = `${message.id}.${seconds}.${message.body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`,
  );
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  };
}
