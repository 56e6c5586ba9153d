import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js';
import { framingOf, MALFORMED } from '../framing.ts';
import type { FrameFault, SocketEvents, SocketServer, TransportSocket, Upgrade } from '../sockets.ts';
import type { Handlers } from './handlers.ts';
import { aborted, UwsRequest, type UwsServer, WAITING } from './request.ts';
import { answer, fault } from './response.ts';
import { run } from './run.ts';
import { done, release } from './send.ts';

/*
 * Behaviour of the WebSockets of uWebSockets.js 20 that this adapter depends on:
 * - On frames that break the protocol, invalid UTF-8 and messages above `maxPayloadLength` it cuts the connection
 *   without a close frame. The peer sees 1006. The close handler gets 1006 and a text, from which `faultOf` reads the fault.
 * - `end` calls the close handler synchronously. It cuts the connection after 4 s when the peer does not close.
 * - Every use of a socket after the start of the close handler throws.
 * - uWS answers pings itself.
 */

type Data = { events: SocketEvents; live: boolean };

/**
 * uWS cuts larger messages without a close frame. A message above the limit of its channel and up to this size gets
 * 1009.
 */
const PAYLOAD_FACTOR = 2;

function faultOf(code: number, text: string): FrameFault | null {
  if (code !== 1006) return null;
  if (text.includes('too big')) return 'too_large';
  if (text.includes('UTF-8')) return 'invalid_utf8';
  return text.startsWith('Received') && !text.includes('FIN') ? 'protocol' : null;
}

const socketOf = (ws: WebSocket<Data>, data: Data): TransportSocket => ({
  send(bytes, binary) {
    if (data.live) ws.send(bytes, binary);
  },
  queuedBytes: () => (data.live ? ws.getBufferedAmount() : 0),
  ping() {
    if (data.live) ws.ping();
  },
  end(code, reason) {
    if (data.live) ws.end(code, reason);
  },
  cut() {
    if (data.live) ws.close();
  },
});

const settle = (request: UwsRequest, result: Upgrade | Response, context: us_socket_context_t): void => {
  if (!('events' in result)) {
    answer(request, result);
    return;
  }
  const key = request.headers.get('sec-websocket-key') ?? '';
  const data: Data = { events: result.events, live: true };
  done(request);
  request._res.upgrade(data, key, result.protocol, '', context);
};

const upgrade = (request: UwsRequest, sockets: SocketServer, context: us_socket_context_t): void => {
  const res = request._res;
  res.onAborted(() => aborted(request));
  sockets.upgrade(request as unknown as Request).then((result) => {
    if (request._state === WAITING) {
      res.cork(() => settle(request, result, context));
      return;
    }
    release(request);
    if ('events' in result) result.events.closed(1006, null);
  });
};

/** Handlers that need nothing but the socket. */
const eventHandlers: WebSocketBehavior<Data> = {
  message: (ws, message, binary) => ws.getUserData().events.message(Buffer.from(message), binary),
  ping: (ws) => ws.getUserData().events.ping(),
  pong: (ws) => ws.getUserData().events.pong(),
  drain(ws) {
    if (ws.getBufferedAmount() === 0) ws.getUserData().events.drained();
  },
  close(ws, code, message) {
    const data = ws.getUserData();
    data.live = false;
    data.events.closed(code, faultOf(code, Buffer.from(message).toString()));
  },
};

/**
 * Serves handshakes for the paths of channels. uWS passes requests without a `Sec-WebSocket-Key` to the other handlers.
 */
export function serveSockets(
  app: TemplatedApp,
  compression: number,
  server: UwsServer,
  sockets: SocketServer,
  { hold }: Handlers,
): void {
  const shake = (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => {
    server.active++;
    const path = req.getUrl();
    const request = new UwsRequest(server, res, req, 'GET', path, req.getQuery());
    const { length } = framingOf(request._flat);
    if (length === MALFORMED || length < 0) fault(request, 400, true);
    else if (length > 0 || sockets.pathOf(path) === null) run(request, false);
    else upgrade(request, sockets, context);
  };
  const open = (ws: WebSocket<Data>) => {
    // uWS does not report the end of an upgraded connection to its filter.
    server.connections -= 1;
    const data = ws.getUserData();
    data.events.opened(socketOf(ws, data));
  };
  for (const { path, frameBytes } of sockets.channels)
    app.ws<Data>(path, {
      ...eventHandlers,
      maxPayloadLength: frameBytes * PAYLOAD_FACTOR,
      // The channel limits deadlines, pings and the queue in the same way on both transports.
      idleTimeout: 0,
      sendPingsAutomatically: false,
      maxBackpressure: 0,
      compression,
      upgrade: hold(shake),
      open: hold(open),
    });
}
