import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { openBodyBudget } from '../body-budget.ts';
import {
  DEFAULT_BODY_TIMEOUT,
  DEFAULT_CLOSE_DEADLINE,
  DEFAULT_MAX_BODY,
  LINGER_MS,
  type Transport,
  type TransportOptions,
} from '../transport.ts';
import { collectBody, hasBody } from './collect-body.ts';
import { isMalformed } from './is-malformed.ts';
import type { NodeServer } from './node-server.ts';
import { openPipelines } from './pipelines.ts';
import { closingSockets, fault, onClientError } from './refuse.ts';
import { run } from './run.ts';
import { shut } from './shut.ts';
import { type NodeSockets, openNodeSockets } from './sockets.ts';
import { streamBody } from './stream-body.ts';

/** For the request line and headers, and between two requests of a connection. The uWS transport has the same limit. */
const HEADERS_TIMEOUT = 10_000;
/** A connection is cut when its client reads nothing for this long. */
const STALLED_TIMEOUT = 10_000;

const upgrade = (
  server: NodeServer,
  sockets: NodeSockets,
  req: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void => {
  if (closingSockets.has(socket)) {
    socket.destroy();
    return;
  }
  server.background++;
  sockets
    .upgrade(req, socket, head)
    .catch(() => socket.destroy())
    .finally(() => {
      server.background--;
      server.onIdle?.();
    });
};

/** Runs a GET or HEAD. Nothing reads its body, so a connection whose body does not end in time is cut. */
const runWithoutBody = (server: NodeServer, req: IncomingMessage, res: ServerResponse, deadlineMs: number): void => {
  if (server.streamLimitOf !== undefined && hasBody(req)) {
    const timer = setTimeout(() => req.socket.destroy(), deadlineMs);
    req.once('close', () => clearTimeout(timer));
  }
  run(server, req, res);
};

/** Reads the body of a streamed route while the application runs, every other body before it. */
const runWithBody = (server: NodeServer, req: IncomingMessage, res: ServerResponse): void => {
  const { method = '', url = '' } = req;
  const streamLimit = server.streamLimitOf?.(method, url.split('?', 1)[0]!) ?? 0;
  if (streamLimit > 0) streamBody(server, req, res, streamLimit);
  else collectBody(server, req, res);
};

const listen = (http: HttpServer, hostname: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'address in use' : error.message;
      reject(new Error(`Cannot listen on ${hostname}:${port}: ${reason}`, { cause: error }));
    });
    http.listen({ host: hostname, port, exclusive: true }, resolve);
  });

export const serveNode = async (options: TransportOptions): Promise<Transport> => {
  const hostname = options.hostname ?? '127.0.0.1';
  const bodyTimeoutMs = options.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT;
  const server: NodeServer = {
    fetch: options.fetch,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY,
    bodyLimitOf: options.bodyLimitOf,
    streamLimitOf: options.streamLimitOf,
    budget: openBodyBudget(options.maxBufferedBytes ?? Number.POSITIVE_INFINITY),
    bodyTimeoutMs,
    faultResponse: options.faultResponse,
    active: new Set(),
    background: 0,
    closing: false,
    onIdle: undefined,
  };
  const requestTimeout = HEADERS_TIMEOUT + bodyTimeoutMs + LINGER_MS;
  const pipelines = openPipelines();
  const sockets = options.sockets ? openNodeSockets(options.sockets) : null;
  const http = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT,
      // Bodies have deadlines of their own (`collectBody`, `IncomingBody`). This timeout is only a fallback, and a
      // streamed body may take longer.
      requestTimeout: options.streamLimitOf === undefined ? requestTimeout : 0,
      keepAliveTimeout: HEADERS_TIMEOUT,
      connectionsCheckingInterval: 2000,
      // `isMalformed` checks the Host header. Node:http would run the requests behind the one it refuses.
      requireHostHeader: false,
      // Without this callback a listener for `upgrade` would get every request that has an Upgrade header.
      ...(sockets && {
        shouldUpgradeCallback: (req: IncomingMessage) => !isMalformed(req) && sockets.isHandshake(req),
      }),
    },
    (req, res) => {
      if (closingSockets.has(req.socket) || !pipelines.admit(req, res)) return;
      server.active.add(res);
      res.once('close', () => {
        server.active.delete(res);
        server.onIdle?.();
      });
      // The socket timeout also runs while a handler works. Only a response that the client does not read is cut.
      res.setTimeout(STALLED_TIMEOUT, () => {
        if (res.writableNeedDrain || (res.writableEnded && !res.writableFinished)) res.destroy();
      });
      if (server.closing) res.shouldKeepAlive = false;
      if (isMalformed(req)) {
        res.once('finish', () => req.socket.destroySoon());
        fault(server, res, 400, true);
      } else if (req.method === 'GET' || req.method === 'HEAD') runWithoutBody(server, req, res, requestTimeout);
      else if (hasBody(req)) runWithBody(server, req, res);
      else run(server, req, res);
    },
  );
  if (sockets) http.on('upgrade', (req, socket, head) => upgrade(server, sockets, req, socket as Socket, head));
  http.on('clientError', (error, socket) => onClientError(server, error, socket));

  await listen(http, hostname, options.port ?? 0);
  const { port } = http.address() as AddressInfo;

  let closed: Promise<void> | undefined;

  return {
    name: 'node',
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`,
    port,
    hostname,
    close: (deadlineMs = DEFAULT_CLOSE_DEADLINE, { keepIdle = false } = {}) => {
      closed ??= shut({ server, http, port, channels: options.sockets, sockets, keepIdle }, deadlineMs);
      return closed;
    },
    activeRequests: () => server.active.size,
    bodies: server.budget,
  };
};
