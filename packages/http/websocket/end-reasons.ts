/**
 * The reasons for which the server ends a socket: the code and the reason of its close frame. Clients distinguish the
 * cases by the reason. The codes 4000 to 4999 are free for the channels.
 */
export const endReasons = {
  shutdown: { code: 1001, about: 'The server stops. Connect again.' },
  protocol: { code: 1002, about: 'The peer sent frames that WebSocket does not allow.' },
  binary_not_taken: { code: 1003, about: 'The channel takes no binary frames.' },
  invalid_utf8: { code: 1007, about: 'A text frame was not valid UTF-8.' },
  invalid_frame: {
    code: 1008,
    about: 'A text frame was not JSON or did not fit the schema, on a channel that closes in this case.',
  },
  too_many_frames: { code: 1008, about: 'The peer sent frames faster than the limit.' },
  slow_reader: {
    code: 1008,
    about:
      'The peer did not read. The connection is cut, because a close frame would be queued behind the unread frames.',
  },
  token_invalid: {
    code: 1008,
    about: 'The token expired, was revoked, or lost the permission. Log in, then connect again.',
  },
  not_logged_in: { code: 1008, about: 'The first frame held no valid token.' },
  refused: { code: 1008, about: 'The channel refused the socket after the handshake. An error frame comes before.' },
  handshake_timeout: { code: 1008, about: 'No token came in time.' },
  idle: { code: 1008, about: 'No message came for the idle time of the channel.' },
  frame_too_large: { code: 1009, about: 'A message was larger than the limit.' },
  internal: { code: 1011, about: 'The server failed to open the socket. Connect again later.' },
  no_pong: { code: 1006, about: 'The peer did not answer a ping. The connection is cut.' },
} as const satisfies Record<string, { code: number; about: string }>;

export type EndReason = keyof typeof endReasons;

/**
 * Reasons that are not of the server: the peer closed (`client`), the connection broke (`lost`), or a handler of the
 * channel closed (`channel`).
 */
export type CloseReason = EndReason | 'client' | 'lost' | 'channel';

const countedCodes = new Set([1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1011]);

/** The code as a metric label. A peer may send any code, so rare codes share a label. */
export const codeLabel = (code: number): string => (countedCodes.has(code) ? String(code) : 'other');
