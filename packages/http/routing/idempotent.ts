import { createHash } from 'node:crypto';
import { serviceErrors } from '@tradepost/core';
import type { Claim, Runtime, StoredAnswer } from '@tradepost/runtime';
import { z } from 'zod';
import { slowHash } from '../slow-hash.ts';
import { httpErrors } from './errors.ts';
import type { Caller, Route } from './route.ts';

/** Visible ASCII. Clients use a UUID, a ULID or an order number of their own. */
const acceptable = /^[\x21-\x7e]{1,255}$/;

/**
 * Returns the Idempotency-Key of a write, or null when the header is absent. Refuses every value that is not 1 to 255
 * visible ASCII characters. An empty value is refused, because uWebSockets.js reads a key of other characters as empty.
 * Several headers are joined with a space and so are refused too.
 */
export function idempotencyKeyOf(request: Request): string | null {
  const key = request.headers.get('idempotency-key');
  if (key === null) return null;
  if (!acceptable.test(key))
    throw httpErrors.invalid_field({ reason: 'Idempotency-Key: send one, of 1 to 255 visible ASCII characters' });
  return key;
}

/** A hash of the whole request without its language. A repeat with its fields in another order is another request. */
function digestOf({ route, request, body }: Keyed): Buffer {
  const { pathname, searchParams } = new URL(request.url);
  searchParams.delete('lang');
  return createHash('sha256').update(`${route.method} ${pathname}?${searchParams}\n`).update(body).digest();
}

/** True when the body of this route has a field with `format: password`. */
const holdsSecret = ({ body }: Route) =>
  body !== undefined &&
  JSON.stringify(z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })).includes('"format":"password"');

/**
 * The fingerprint of a request that contains a secret. It is stored in the database beside the hashes of passwords, so
 * it must cost as much to guess from: it is a slow hash, salted by caller and key. It does not depend on a signing key,
 * because that may be rotated.
 */
function slowFingerprintOf(keyed: Keyed, caller: string): Promise<Buffer> {
  const salt = createHash('sha256').update(`${caller} ${keyed.key}`).digest();
  return slowHash(digestOf(keyed), salt);
}

/** True for refusals that are thrown before anything is written. The key is then free again. */
export const isNothingDone = (error: unknown): boolean =>
  [serviceErrors.busy.refusal, serviceErrors.stopping.refusal].includes((error as { refusal?: never }).refusal!);

/** A write with its key. `body` is the text as sent, or the bytes for a route with `rawBody`. */
type Keyed = { route: Route; request: Request; caller: Caller; key: string; body: string | Uint8Array };
type RunOnce = (
  keyed: Keyed,
  work: (claim: Claim) => Promise<StoredAnswer>,
) => Promise<StoredAnswer & { replayed: boolean }>;

/**
 * Runs the writes of this route under their keys: the first request of a caller runs, and repeats get its answer. A key
 * belongs to a caller, so routes without a token have no keys. Those routes are safe to repeat without one (logins,
 * codes, signed callbacks).
 */
export function openRunOnce(runtime: Pick<Runtime, 'idempotency'>, route: Route): RunOnce {
  const repeat = route.repeat ?? 'once';
  const secret = holdsSecret(route);
  return async (keyed, work) => {
    const { key } = keyed;
    const caller = `${keyed.caller.role}:${keyed.caller.id}`;
    const fingerprint = secret ? await slowFingerprintOf(keyed, caller) : digestOf(keyed);
    return runtime.idempotency.run({ caller, key, fingerprint, repeat }, work);
  };
}
