import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { NodeRequest } from 'srvx/node';
import { type BodyBudget, BodyBuffer, openBodyBudget } from '../body-budget.ts';
import { discard, toParts, toStream } from '../response-parts.ts';
import { GOODBYE_MS, type SocketServer } from '../sockets.ts';
import {
  DEFAULT_BODY_TIMEOUT,
  DEFAULT_CLOSE_DEADLINE,
  DEFAULT_MAX_BODY,
  type Fault,
  LINGER_MS,
  type Transport,
  type TransportOptions,
} from '../transport.ts';
import { openPipelines } from './pipelines.ts';
import { type NodeSockets, openNodeSockets } from './sockets.ts';

/** For the request line and headers, and between two requests of a connection; what the uWS transport has. */
const HEADERS_TIMEOUT = 10_000;
/** A reader that takes nothing for this long is cut off. */
const STALLED_TIMEOUT = 10_000;

type Server = Required<Pick<TransportOptions, 'fetch' | 'maxBodyBytes' | 'bodyTimeoutMs'>> & {
  budget: BodyBudget;
  bodyLimitOf: TransportOptions['bodyLimitOf'];
  faultResponse: TransportOptions['faultResponse'];
  active: Set<ServerResponse>;
  background: number;
  closing: boolean;
  onIdle: (() => void) | undefined;
};

const faultParts = (server: Server, status: number, limit?: number): Fault => {
  try {
    return server.faultResponse?.(status, limit) ?? { headers: {}, body: '' };
  } catch {
    return { headers: {}, body: '' };
  }
};

const faultHeaders = ({ headers, body }: Fault): Record<string, string> => ({
  'content-length': String(Buffer.byteLength(body)),
  ...headers,
});

const fault = (server: Server, res: ServerResponse, status: number, close: boolean): void => {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  if (res.destroyed) return;
  const parts = faultParts(server, status);
  if (close) {
    ending.add(res.req.socket);
    res.shouldKeepAlive = false;
  }
  res.writeHead(status, STATUS_CODES[status], faultHeaders(parts));
  res.end(parts.body);
};

/** Connections that end with the answer being given: what node:http has parsed behind that request does not run. */
const ending = new WeakSet<Socket>();

/** The answer is complete at once, the connection closes when the upload has ended or after a moment. */
const refuse = (server: Server, req: IncomingMessage, res: ServerResponse, status: 413 | 503, limit: number): void => {
  const parts = faultParts(server, status, limit);
  ending.add(req.socket);
  res.shouldKeepAlive = false;
  res.writeHead(status, { ...faultHeaders(parts), ...(status === 503 ? { 'retry-after': '1' } : {}) });
  if (parts.body === '') res.flushHeaders();
  else res.write(parts.body);
  const end = (): void => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  req.once('end', end).once('close', end);
  req.resume();
};

const DIGITS = /^\d+$/;
const NON_ASCII = /[^\0-\x7f]/;

const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

/** What node:http takes although another reader could see another end of the request, and what the uWS transport refuses. */
const isMalformed = (req: IncomingMessage): boolean => {
  const encoding = req.headers['transfer-encoding'];
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== 'chunked' || req.httpVersionMinor === 0) return true;
    if (req.method === 'GET' || req.method === 'HEAD') return true;
  }
  let hosts = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  return hosts > 1 || (hosts === 0 && req.httpVersionMinor === 1);
};

/** The connection's own headers are node's business; the length is that of the body where it is known. */
const sentHeaders = (res: ServerResponse, headers: string[]): { sent: string[]; declared: string | undefined } => {
  const sent: string[] = [];
  let declared: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const lower = name.toLowerCase();
    const value = String(headers[i + 1]);
    if (lower === 'content-length') declared = DIGITS.test(value) ? value : undefined;
    else if (lower === 'connection') {
      if (value.toLowerCase() === 'close') res.shouldKeepAlive = false;
    } else if (lower !== 'transfer-encoding' && lower !== 'keep-alive') sent.push(name, value);
  }
  return { sent, declared };
};

/** Pulls the next chunk when the socket has taken the last one. A body other than declared cuts the connection. */
const pump = (res: ServerResponse, reader: ReadableStreamDefaultReader<Uint8Array>, total: number): void => {
  let sent = 0;
  const cut = (): void => {
    reader.cancel().catch(() => {});
    res.destroy();
  };
  res.once('close', () => {
    if (!res.writableFinished) reader.cancel().catch(() => {});
  });
  const pull = (): void => {
    reader.read().then(({ done, value }) => {
      if (res.destroyed) return;
      if (!done && value instanceof Uint8Array && sent + value.byteLength <= total) {
        sent += value.byteLength;
        if (res.write(value)) pull();
        else res.once('drain', pull);
      } else if (done && (sent === total || total === Number.POSITIVE_INFINITY)) res.end();
      else cut();
    }, cut);
  };
  pull();
};

/** Throws only before anything has been sent. */
const respond = (server: Server, res: ServerResponse, response: Response): void => {
  const { status, statusText, headers, body } = toParts(response);
  if (!(status >= 200 && status <= 599)) throw new RangeError(`Response status ${status} cannot be sent`);
  const { sent, declared } = sentHeaders(res, headers);
  if (server.closing) res.shouldKeepAlive = false;
  const reason = statusText || STATUS_CODES[status] || 'Status';
  const bodiless = status === 204 || status === 304;
  if (
    bodiless ||
    status === 205 ||
    res.req.method === 'HEAD' ||
    body == null ||
    typeof body === 'string' ||
    body instanceof Uint8Array
  ) {
    // As bytes: node writes head and text together in the encoding of the text, which garbles Latin-1 header values.
    const bytes = body instanceof Uint8Array ? body : typeof body === 'string' ? Buffer.from(body) : undefined;
    const length =
      status === 205 ? '0' : res.req.method === 'HEAD' ? (declared ?? bytes?.length) : (bytes?.length ?? 0);
    if (!bodiless && length !== undefined) sent.push('content-length', String(length));
    res.writeHead(status, reason, sent);
    discard(body);
    if (bytes === undefined || bodiless || status === 205) res.end();
    else res.end(bytes);
    return;
  }
  const reader = toStream(body).getReader();
  if (declared !== undefined) sent.push('content-length', declared);
  try {
    res.writeHead(status, reason, sent);
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
  // The first chunk may be long in coming. (A head sent alone is encoded as UTF-8, wrong for Latin-1 values.)
  if (!sent.some((text) => NON_ASCII.test(text))) res.flushHeaders();
  pump(res, reader, declared === undefined ? Number.POSITIVE_INFINITY : Number(declared));
};

const run = (server: Server, req: IncomingMessage, res: ServerResponse): void => {
  const request = new NodeRequest({ req, res });
  request.waitUntil = (promise: Promise<unknown>) => {
    server.background++;
    const settled = () => {
      server.background--;
      server.onIdle?.();
    };
    Promise.resolve(promise).then(settled, settled);
  };
  const fail = (): void => fault(server, res, 500, server.closing);
  const send = (response: Response): void => {
    if (res.destroyed) discard(toParts(response).body);
    else respond(server, res, response);
  };
  try {
    const result = server.fetch(request as Request);
    if (typeof (result as Promise<Response>)?.then === 'function') (result as Promise<Response>).then(send).catch(fail);
    else send(result as Response);
  } catch {
    fail();
  }
};

/** srvx reads the body from `rawBody`, several times within one call: after that it is given back. */
const lendBody = (req: IncomingMessage, buffer: BodyBuffer): void => {
  let body: Buffer | undefined = buffer.bytes();
  let read = false;
  const returnBytes = (): void => {
    body = undefined;
    buffer.drop();
  };
  Object.defineProperty(req, 'rawBody', {
    get() {
      if (!read) queueMicrotask(returnBytes);
      read = true;
      return body;
    },
  });
};

/** Collects the body before the application runs, as the uWS transport does. */
const collect = (server: Server, req: IncomingMessage, res: ServerResponse): void => {
  const { method = '', url = '' } = req;
  const length = req.headers['content-length'];
  const declared = length === undefined ? -1 : Number(length);
  const buffer = new BodyBuffer(server.budget, {
    most: server.maxBodyBytes,
    limitOf: () => server.bodyLimitOf?.(method, url.replace(/\?.*/s, '')) ?? server.maxBodyBytes,
    declared,
  });
  const early = buffer.check(Math.max(0, declared));
  if (early !== 0) {
    refuse(server, req, res, early, buffer.limit);
    return;
  }
  res.once('close', () => buffer.drop());
  const stop = (): void => {
    clearTimeout(timer);
    req.off('data', onData).off('end', onEnd).off('error', leave).off('close', leave);
    // Without a listener the error of a connection that breaks later would be thrown.
    req.on('error', () => {});
  };
  const leave = (): void => {
    stop();
    buffer.drop();
  };
  const onData = (chunk: Buffer): void => {
    const status = buffer.add(chunk);
    if (status === 0) return;
    stop();
    refuse(server, req, res, status, buffer.limit);
  };
  const onEnd = (): void => {
    stop();
    lendBody(req, buffer);
    run(server, req, res);
  };
  const timer = setTimeout(() => {
    leave();
    res.once('finish', () => req.socket.destroySoon());
    fault(server, res, 408, true);
  }, server.bodyTimeoutMs);
  req.on('data', onData).on('end', onEnd).on('error', leave).on('close', leave);
};

/** Requests node:http cannot parse or got too slowly. */
const onClientError = (server: Server, error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const parts = faultParts(server, status);
  const lines = Object.entries(faultHeaders(parts)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n${lines.join('')}\r\n${parts.body}`,
    () => (socket as Socket).destroySoon(),
  );
};

/** Waits for the running requests until the deadline, then closes all connections. */
type Closing = {
  server: Server;
  http: HttpServer;
  channels: SocketServer | null | undefined;
  sockets: NodeSockets | null;
};

const shut = async ({ server, http, channels, sockets }: Closing, deadlineMs: number): Promise<void> => {
  server.closing = true;
  for (const res of server.active) if (!res.headersSent) res.shouldKeepAlive = false;
  const channelsClosed = channels?.close(deadlineMs);
  // Not http.close(): that takes a response whose end was written, but is not yet sent, for an idle connection.
  const stopped = new Promise<void>((resolve) => NetServer.prototype.close.call(http, () => resolve()));
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, deadlineMs);
    server.onIdle = () => {
      if (server.active.size > 0 || server.background > 0) return;
      clearTimeout(timer);
      resolve();
    };
    server.onIdle();
  });
  server.onIdle = undefined;
  await channelsClosed;
  await sockets?.end(Math.min(GOODBYE_MS, deadlineMs));
  http.closeAllConnections();
  // Only for its own timer: it no longer listens.
  http.close(() => {});
  await stopped;
};

const upgrade = (server: Server, sockets: NodeSockets, req: IncomingMessage, socket: Socket, head: Buffer): void => {
  if (ending.has(socket)) {
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
  const server: Server = {
    fetch: options.fetch,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY,
    bodyLimitOf: options.bodyLimitOf,
    budget: openBodyBudget(options.maxBufferedBytes ?? Number.POSITIVE_INFINITY),
    bodyTimeoutMs,
    faultResponse: options.faultResponse,
    active: new Set(),
    background: 0,
    closing: false,
    onIdle: undefined,
  };
  const pipelines = openPipelines();
  const sockets = options.sockets ? openNodeSockets(options.sockets) : null;
  const http = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT,
      // Bodies have their own deadline above; this one only backs it.
      requestTimeout: HEADERS_TIMEOUT + bodyTimeoutMs + LINGER_MS,
      keepAliveTimeout: HEADERS_TIMEOUT,
      connectionsCheckingInterval: 2000,
      // Checked below: node:http would run what is behind the refusal.
      requireHostHeader: false,
      // Without it a listener for `upgrade` would get every request that has an Upgrade header.
      ...(sockets && {
        shouldUpgradeCallback: (req: IncomingMessage) => !isMalformed(req) && sockets.isHandshake(req),
      }),
    },
    (req, res) => {
      if (ending.has(req.socket) || !pipelines.admit(req, res)) return;
      server.active.add(res);
      res.once('close', () => {
        server.active.delete(res);
        server.onIdle?.();
      });
      // The timeout of the socket counts while a handler works, too; only a response that does not drain is cut.
      res.setTimeout(STALLED_TIMEOUT, () => {
        if (res.writableNeedDrain || (res.writableEnded && !res.writableFinished)) res.destroy();
      });
      if (server.closing) res.shouldKeepAlive = false;
      if (isMalformed(req)) {
        res.once('finish', () => req.socket.destroySoon());
        fault(server, res, 400, true);
      } else if (req.method !== 'GET' && req.method !== 'HEAD' && hasBody(req)) collect(server, req, res);
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
    close: (deadlineMs = DEFAULT_CLOSE_DEADLINE) => {
      closed ??= shut({ server, http, channels: options.sockets, sockets }, deadlineMs);
      return closed;
    },
    activeRequests: () => server.active.size,
    bodies: server.budget,
  };
};
