import { httpErrors } from '../routing/errors.ts';
import { bearerOf } from '../routing/guard.ts';
import type { Channel, TokenSource } from './define-channel.ts';

/** The subprotocol that the answer names when the client passes its token as another subprotocol. */
const subprotocol = 'tradepost';
const tokenPrefix = 'bearer.';
const validKey = /^[+/\dA-Za-z]{22}==$/;

const protocolsOf = (request: Request): string[] =>
  (request.headers.get('sec-websocket-protocol') ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Throws the refusal when the request is not a handshake of WebSocket version 13. */
function checkHandshake({ headers }: Request): void {
  if (headers.get('upgrade')?.toLowerCase() !== 'websocket' || headers.get('sec-websocket-version') !== '13')
    throw httpErrors.upgrade_required();
  if (!validKey.test(headers.get('sec-websocket-key') ?? '')) throw httpErrors.bad_request();
}

/**
 * Returns the token of a handshake, from the places that the channel allows, and the subprotocol of the answer (may be
 * empty).
 */
export function readHandshake(
  channel: Pick<Channel, 'tokenFrom'>,
  request: Request,
  search: URLSearchParams,
): { token: string | null; protocol: string } {
  checkHandshake(request);
  const offered = protocolsOf(request);
  const inProtocol = offered.find((part) => part.startsWith(tokenPrefix))?.slice(tokenPrefix.length);
  const protocol = offered.includes(subprotocol) ? subprotocol : '';
  // A browser fails a socket whose answer names no subprotocol that it offered. The answer must not repeat the token.
  if (inProtocol && protocol === '')
    throw httpErrors.invalid_field({ reason: `Sec-WebSocket-Protocol: offer ${subprotocol} beside the token` });
  const read: Record<TokenSource, string | null | undefined> = {
    header: bearerOf(request),
    query: search.get('token'),
    protocol: inProtocol,
    first_frame: null,
  };
  for (const source of channel.tokenFrom) if (read[source]) return { token: read[source], protocol };
  return { token: null, protocol };
}

/** Returns the token of the first message, for a socket that opened without one, or null. */
export function tokenOfFrame(value: unknown): string | null {
  const { type, token } = (value ?? {}) as { type?: unknown; token?: unknown };
  return type === 'auth' && typeof token === 'string' && token !== '' ? token : null;
}
