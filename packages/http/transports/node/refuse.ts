import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Fault, LINGER_MS } from '../transport.ts';
import type { NodeServer } from './node-server.ts';

/**
 * Connections that close after the current response. Node:http may already have parsed requests behind it; they must not run.
 */
export const closingSockets = new WeakSet<Socket>();

const faultParts = (server: NodeServer, status: number, limit?: number): Fault => {
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

/** Answers a fault of the protocol, or cuts the connection when a part of another response has been sent. */
export const fault = (server: NodeServer, res: ServerResponse, status: number, close: boolean): void => {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  if (res.destroyed) return;
  const parts = faultParts(server, status);
  if (close) {
    closingSockets.add(res.req.socket);
    res.shouldKeepAlive = false;
  }
  res.writeHead(status, STATUS_CODES[status], faultHeaders(parts));
  res.end(parts.body);
};

/**
 * Refuses a body. The response is sent at once. The connection closes when the upload has ended, or after LINGER_MS: a client
 * that is still sending would otherwise see a reset and not the response.
 */
export const refuseBody = (
  server: NodeServer,
  req: IncomingMessage,
  res: ServerResponse,
  status: 413 | 500 | 503,
  limit: number,
): void => {
  const parts = faultParts(server, status, limit);
  closingSockets.add(req.socket);
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

/** Answers a request that node:http cannot parse, or whose headers came too slowly. */
export const onClientError = (server: NodeServer, error: NodeJS.ErrnoException, socket: Duplex): void => {
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
