import { createHash } from 'node:crypto';
import { type Claim, type Runtime, runtimeErrors, type StoredAnswer } from '@tradepost/runtime';
import { httpErrors } from './errors.ts';
import type { Caller, Route } from './route.ts';

/** Printable ASCII, as clients make them: a UUID, a ULID, an order's own number. */
const acceptable = /^[\x21-\x7e]{1,255}$/;

/** The key of a write, or null when none was sent. Refuses one that can not be kept. */
export function idempotencyKeyOf(request: Request): string | null {
  const key = request.headers.get('idempotency-key');
  if (key === null || key === '') return null;
  if (!acceptable.test(key))
    throw httpErrors.invalid_field({ reason: 'Idempotency-Key: 1 to 255 printable ASCII characters without spaces' });
  return key;
}

/** A password has no place in the database but as its own hash: a repeat with another one counts as the same request. */
const passwords = /("(?:\w*password|secret)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi;

/** Of everything that makes a request what it is, but for its language. */
function fingerprintOf(route: Route, request: Request, body: string): Buffer {
  const { pathname, searchParams } = new URL(request.url);
  searchParams.delete('lang');
  return createHash('sha256')
    .update(`${route.method} ${pathname}?${searchParams}\n`)
    .update(body.replace(passwords, '$1""'))
    .digest();
}

const repeatOf = (route: Route) => route.repeat ?? (route.method === 'POST' ? 'once' : 'natural');

/** What a fault leaves behind: these are given before anything is written. */
export const isNothingDone = (error: unknown): boolean =>
  [runtimeErrors.busy().refusal, runtimeErrors.stopping().refusal].includes((error as { refusal?: never }).refusal!);

/**
 * Runs a write under its key: the first request of a caller runs, its repeats get the first one's answer. Keys belong to the
 * caller, so routes without a token have none; they are made to be repeated (logins, codes, signed callbacks).
 */
export function runOnce(
  runtime: Pick<Runtime, 'idempotency'>,
  of: { route: Route; request: Request; caller: Caller; key: string; body: string },
  work: (claim: Claim) => Promise<StoredAnswer>,
): Promise<StoredAnswer & { replayed: boolean }> {
  const { route, request, caller, key, body } = of;
  const fingerprint = fingerprintOf(route, request, body);
  return runtime.idempotency.run(
    { caller: `${caller.role}:${caller.id}`, key, fingerprint, repeat: repeatOf(route) },
    work,
  );
}
