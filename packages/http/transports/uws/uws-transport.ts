import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBodyBudget } from '../body-budget.ts';
import { closeListener } from '../close-listener.ts';
import { CHUNKED, framingOf, MALFORMED } from '../framing.ts';
import { GOODBYE_MS } from '../sockets.ts';
import {
  DEFAULT_BODY_TIMEOUT,
  DEFAULT_CLOSE_DEADLINE,
  DEFAULT_MAX_BODY,
  type Transport,
  type TransportOptions,
} from '../transport.ts';
import { loadUws, type UwsModule } from './binary.ts';
import { collect } from './body.ts';
import { type Handlers, openHandlers } from './handlers.ts';
import { openReadTurns } from './read-turns.ts';
import { UwsRequest, type UwsServer } from './request.ts';
import { fault } from './response.ts';
import { run, runLast } from './run.ts';
import { serveSockets } from './sockets.ts';
import { streamBody } from './stream-body.ts';

/*
 * Behaviour of uWebSockets.js 20 that this adapter depends on. Each point was observed over a raw socket.
 * - When a second request arrives on a connection while the first is unanswered, uWS closes the connection. The first
 *   request is aborted and the second never starts. Promise jobs run between two requests of one packet. So pipelined
 *   requests whose handlers wait for no I/O (or only for their own body) are all answered, in order.
 * - A half-closed connection is closed at once, and its unanswered request is aborted.
 * - Timeouts are 10 s (in steps of 4 s): no complete header, no request on a kept-alive connection, a client that
 *   reads nothing, a body slower than 16 kB/s. A waiting handler and an idle streamed response have no timeout. `resume()`
 *   restarts the timeout; a body gets its whole `bodyTimeoutMs` in this way.
 * - Header block limit 4096 bytes (UWS_HTTP_MAX_HEADERS_SIZE, read when the binary is loaded) and 100 headers: 431.
 * - HTTP/1.0, absolute-form and asterisk targets, and a TCP segment that ends within "HTTP/1.1": 505.
 * - Header values lose bytes of 0x80 and above at both ends where `char` is signed; the patch in binary.ts corrects that. A header
 *   with an empty name hides all headers behind it; this cannot be detected here. Invalid UTF-8 in a value becomes U+FFFD.
 * - A head without Host is answered with 400. A head with a malformed line counts as incomplete: closed after the timeout.
 * - uWS uses the first of several Content-Length headers, and an empty one counts as absent: `framingOf` reads all headers.
 * - The chunk parser accepts a missing or wrong line end after a chunk. It reads a size after a blank as 0, and trailers as
 *   the next request. So a chunked request is the last of its connection (`runLast`), and GET and HEAD may not be chunked.
 * - `end(body, true)` within a callback closes only after the rest of the packet has run: `endConnection` closes reliably.
 * - The handler is called before uWS checks Content-Length: `framingOf` refuses a malformed or repeated one.
 * - `endWithoutBody` with an argument leaves the response unfinished, which ends the process. It works without arguments.
 * - With an `onWritable` handler uWS no longer empties its own buffer: only a further, non-empty write does.
 */

type Listen = (
  host: string,
  port: number,
  listenOptions: number,
  callback: (token: us_listen_socket | false) => void,
) => void;

/** Rejects and closes the app when the address is not free. */
const listen = async (uws: UwsModule, app: TemplatedApp, hostname: string, port: number): Promise<us_listen_socket> => {
  const start = app.listen as unknown as Listen;
  const token = await new Promise<us_listen_socket | false>((resolve) => {
    // Without this option uWS shares the port (SO_REUSEPORT) with other processes that listen on it.
    start.call(app, hostname, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (token !== false) return token;
  app.close();
  // uWS reports no reason.
  throw new Error(`Cannot listen on ${hostname}:${port}: address in use or not available`);
};

type Closing = {
  uws: UwsModule;
  app: TemplatedApp;
  token: us_listen_socket;
  port: number;
  server: UwsServer;
  handlers: Handlers;
  sockets: TransportOptions['sockets'];
  keepIdle: boolean;
};

const shut = async (
  { uws, app, token, port, server, handlers, sockets, keepIdle }: Closing,
  deadlineMs: number,
): Promise<void> => {
  const close = () => uws.us_listen_socket_close(token);
  if (keepIdle) await closeListener(port, close);
  else close();
  server.closing = true;
  const hadSockets = (sockets?.openSockets() ?? 0) > 0;
  const goodbye = hadSockets ? sleep(Math.min(GOODBYE_MS, deadlineMs)) : undefined;
  const channelsClosed = sockets?.close(deadlineMs);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, deadlineMs);
    server.onIdle = () => {
      if (server.active > 0 || server.background > 0 || (keepIdle && server.connections > 0)) return;
      clearTimeout(timer);
      // The last response may still be in the cork of the running callback.
      setImmediate(resolve);
    };
    server.onIdle();
  });
  server.onIdle = undefined;
  if (sockets) await Promise.all([channelsClosed, goodbye]);
  app.close();
  handlers.release();
};

export const serveUws = async (options: TransportOptions): Promise<Transport> => {
  const { uws } = await loadUws();
  // Removes the response header "uWebSockets: 20".
  uws._cfg?.('silent');
  const hostname = options.hostname ?? '127.0.0.1';
  const budget = openBodyBudget(options.maxBufferedBytes ?? Number.POSITIVE_INFINITY);
  const server: UwsServer = {
    fetch: options.fetch,
    hostname,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY,
    bodyLimitOf: options.bodyLimitOf,
    streamLimitOf: options.streamLimitOf,
    budget,
    readTurns: openReadTurns(budget),
    bodyTimeoutMs: options.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT,
    faultResponse: options.faultResponse,
    active: 0,
    background: 0,
    connections: 0,
    bodiless: 0,
    closing: false,
    onIdle: undefined,
  };

  const withoutBody = (method: string) => (res: HttpResponse, req: HttpRequest) => {
    server.active++;
    const request = new UwsRequest(server, res, req, method, req.getUrl(), req.getQuery());
    const { length, close } = framingOf(request._flat);
    // uWS skips a body by its length. It does not reliably find the end of a chunked one.
    if (length === MALFORMED || length === CHUNKED) fault(request, 400, true);
    else if (close) runLast(request);
    else run(request, false);
  };
  const app: TemplatedApp = uws.App();
  const handlers = openHandlers();
  const countConnections = (_res: HttpResponse, change: number): void => {
    server.connections += change;
    if (change < 0) server.onIdle?.();
  };
  app.filter(handlers.hold(countConnections));
  const { sockets } = options;
  if (sockets) serveSockets(app, uws.DISABLED, server, sockets, handlers);
  app.get('/*', handlers.hold(withoutBody('GET')));
  app.head('/*', handlers.hold(withoutBody('HEAD')));
  const withAnyBody = (res: HttpResponse, req: HttpRequest) => {
    server.active++;
    const request = new UwsRequest(server, res, req, req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery());
    const { length, close } = framingOf(request._flat);
    if (length === MALFORMED) fault(request, 400, true);
    else if (length !== 0) {
      request._last = close;
      const streamLimit = server.streamLimitOf?.(request.method, request._path) ?? 0;
      if (streamLimit > 0) streamBody(request, length, streamLimit);
      else collect(request, length);
    } else if (close) runLast(request);
    else run(request, false);
  };
  app.any('/*', handlers.hold(withAnyBody));

  const token = await listen(uws, app, hostname, options.port ?? 0);
  const port = uws.us_socket_local_port(token as unknown as Parameters<typeof uws.us_socket_local_port>[0]);

  let closed: Promise<void> | undefined;
  return {
    name: 'uws',
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`,
    port,
    hostname,
    close: (deadlineMs = DEFAULT_CLOSE_DEADLINE, { keepIdle = false } = {}) => {
      closed ??= shut({ uws, app, token, port, server, handlers, sockets, keepIdle }, deadlineMs);
      return closed;
    },
    activeRequests: () => server.active,
    bodies: server.budget,
  };
};
