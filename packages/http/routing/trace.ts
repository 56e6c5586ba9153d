import { randomBytes } from 'node:crypto';

const prefix = randomBytes(5).toString('hex');
let counter = 0;

/** Unique among instances. It uses no randomness per request. */
export function newTraceId(): string {
  counter += 1;
  return `${prefix}-${counter.toString(36)}`;
}

const acceptable = /^[\w.-]{1,64}$/;

/** The id in X-Request-Id of a proxy or client, or a new one. */
export function traceIdOf(request: Request): string {
  const given = request.headers.get('x-request-id');
  return given && acceptable.test(given) ? given : newTraceId();
}
