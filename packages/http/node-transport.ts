import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { NodeRequest, sendNodeResponse } from 'srvx/node';
import type { Transport, TransportOptions } from './uws-transport.ts';

const DEFAULT_MAX_BODY = 1024 * 1024;
const DEFAULT_BODY_TIMEOUT = 15_000;
const DEFAULT_CLOSE_DEADLINE = 10_000;
/** For the request line and headers, and between two requests of a connection; what the uWS transport has. */
const HEADERS_TIMEOUT = 10_000;
/** A reader that takes nothing for this long is cut off. */
const STALLED_TIMEOUT = 10_000;
/** A refused upload is read and dropped for this long, so that the client gets to read the answer and not a reset. */
const LINGER_MS = 1000;

type Fault = { contentType: string; body: string };

type Server = Required<Pick<TransportOptions, 'fetch' | 'maxBodyBytes' | 'bodyTimeoutMs'>> & {
  faultResponse: TransportOptions['faultResponse'];
  active: Set<ServerResponse>;
  background: number;
  closing: boolean;
  onIdle: (() => void) | undefined;
};

/** srvx takes a body that was read beforehand from here. */
type WithRawBody = IncomingMessage & { rawBody?: Buffer };

const faultParts = (server: Server, status: number): Fault => {
  try {
    return server.faultResponse?.(status) ?? { contentType: '', body: '' };
  } catch {
    return { contentType: '', body: '' };
  }
};

const faultHeaders = ({ contentType, body }: Fault): Record<string, string> => ({
  'content-length': String(Buffer.byteLength(body)),
  ...(contentType === '' ? {} : { 'content-type': contentType }),
});

const fault = (server: Server, res: ServerResponse, status: number, close: boolean): void => {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const parts = faultParts(server, status);
  if (close) res.shouldKeepAlive = false;
  res.writeHead(status, faultHeaders(parts));
  res.end(parts.body);
};

/** 413: the answer is complete at once, the connection closes when the upload has ended or after a moment. */
const refuse = (server: Server, req: IncomingMessage, res: ServerResponse): void => {
  const parts = faultParts(server, 413);
  res.shouldKeepAlive = false;
  res.writeHead(413, faultHeaders(parts));
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

const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

const run = (server: Server, req: WithRawBody, res: ServerResponse): void => {
  const request = new NodeRequest({ req, res });
  request.waitUntil = (promise: Promise<unknown>) => {
    server.background++;
    const settled = () => {
      server.background--;
      server.onIdle?.();
    };
    Promise.resolve(promise).then(settled, settled);
  };
  const send = (response: Response): void => {
    if (res.destroyed) {
      // Sending is what cancels the body of a response nobody waits for.
      sendNodeResponse(res, response).catch(() => {});
      return;
    }
    if (server.closing) res.shouldKeepAlive = false;
    if (!(response?.status >= 200 && response.status <= 599)) {
      fault(server, res, 500, server.closing);
      return;
    }
    sendNodeResponse(res, response).then(
      // A stream that failed leaves a response that has begun and will never end.
      () => !res.writableEnded && res.destroy(),
      () => fault(server, res, 500, server.closing),
    );
  };
  const fail = (): void => fault(server, res, 500, server.closing);
  let result: Response | Promise<Response>;
  try {
    result = server.fetch(request as Request);
    if (typeof (result as Promise<Response>)?.then === 'function') (result as Promise<Response>).then(send).catch(fail);
    else send(result as Response);
  } catch {
    fail();
  }
};

/** Collects the body before the application runs, as the uWS transport does. */
const collect = (server: Server, req: WithRawBody, res: ServerResponse): void => {
  const limit = server.maxBodyBytes;
  const declared = req.headers['content-length'];
  if (declared !== undefined && (!DIGITS.test(declared) || Number(declared) > limit)) {
    refuse(server, req, res);
    return;
  }
  let buffer = Buffer.alloc(0);
  let used = 0;
  const stop = (): void => {
    clearTimeout(timer);
    req.off('data', onData).off('end', onEnd).off('error', stop).off('close', stop);
    // Without a listener the error of a connection that breaks later would be thrown.
    req.on('error', () => {});
  };
  // One growing buffer: a million one-byte chunks kept as objects would be far more than the limit.
  const onData = (chunk: Buffer): void => {
    if (used + chunk.length > limit) {
      stop();
      buffer = Buffer.alloc(0);
      refuse(server, req, res);
      return;
    }
    if (used + chunk.length > buffer.length) {
      const grown = Buffer.allocUnsafe(Math.min(limit, Math.max(2 * buffer.length, used + chunk.length, 1024)));
      buffer.copy(grown, 0, 0, used);
      buffer = grown;
    }
    chunk.copy(buffer, used);
    used += chunk.length;
  };
  const onEnd = (): void => {
    stop();
    req.rawBody = buffer.subarray(0, used);
    run(server, req, res);
  };
  const timer = setTimeout(() => {
    stop();
    res.once('finish', () => req.socket.destroySoon());
    fault(server, res, 408, true);
  }, server.bodyTimeoutMs);
  req.on('data', onData).on('end', onEnd).on('error', stop).on('close', stop);
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

export const serveNode = async (options: TransportOptions): Promise<Transport> => {
  const hostname = options.hostname ?? '127.0.0.1';
  const bodyTimeoutMs = options.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT;
  const server: Server = {
    fetch: options.fetch,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY,
    bodyTimeoutMs,
    faultResponse: options.faultResponse,
    active: new Set(),
    background: 0,
    closing: false,
    onIdle: undefined,
  };
  const http = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT,
      // Bodies have their own deadline above; this one only backs it.
      requestTimeout: HEADERS_TIMEOUT + bodyTimeoutMs + LINGER_MS,
      keepAliveTimeout: HEADERS_TIMEOUT,
      connectionsCheckingInterval: 2000,
    },
    (req, res) => {
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
      if (req.method !== 'GET' && req.method !== 'HEAD' && hasBody(req)) collect(server, req, res);
      else run(server, req, res);
    },
  );
  http.on('clientError', (error, socket) => onClientError(server, error, socket));

  await new Promise<void>((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'address in use' : error.message;
      reject(new Error(`Cannot listen on ${hostname}:${options.port ?? 0}: ${reason}`, { cause: error }));
    });
    http.listen({ host: hostname, port: options.port ?? 0, exclusive: true }, resolve);
  });
  const { port } = http.address() as AddressInfo;

  let closed: Promise<void> | undefined;
  const shut = async (deadlineMs: number): Promise<void> => {
    server.closing = true;
    for (const res of server.active) if (!res.headersSent) res.shouldKeepAlive = false;
    // Also closes idle connections; those with a request close after it.
    const stopped = new Promise<void>((resolve) => http.close(() => resolve()));
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
    http.closeAllConnections();
    await stopped;
  };

  return {
    name: 'node',
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`,
    port,
    hostname,
    close: (deadlineMs = DEFAULT_CLOSE_DEADLINE) => {
      closed ??= shut(deadlineMs);
      return closed;
    },
    activeRequests: () => server.active.size,
  };
};
