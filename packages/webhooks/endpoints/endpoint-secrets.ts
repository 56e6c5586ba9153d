import { randomBytes } from 'node:crypto';
import type { Secrets } from '@tradepost/runtime';
import type { SealedSecrets } from './endpoint-store.ts';

const secretBytes = 32;
const prefix = 'whsec_';

/** A new secret in the form of the Standard Webhooks specification. */
export const newSecret = (): string => `${prefix}${randomBytes(secretBytes).toString('base64')}`;

/** The key of HMAC. */
export const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), 'base64');

/** The name that the secrets of an endpoint are sealed with. The previous one keeps its name when it becomes that. */
export const secretName = (endpointId: number | string): string => `webhooks.endpoints:${endpointId}`;

type Opener = Pick<Secrets, 'open'>;

/** The secrets that sign now, the current one first. Refuses when one of them cannot be decrypted. */
export function openSecrets(secrets: Opener, target: SealedSecrets & { id: number }, now: Date): string[] {
  const { id, secret_sealed: current, previous_secret_sealed: previous, previous_secret_until: until } = target;
  const valid = previous !== null && until !== null && until > now ? [current, previous] : [current];
  return valid.map((sealed) => secrets.open(secretName(id), sealed));
}
