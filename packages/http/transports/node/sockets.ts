import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { NodeRequest } from 'srvx/node';
import { type WebSocket, WebSocketServer } from 'ws';
import { toParts } from '../response-parts.ts';
import {
  CLOSE_TIMEOUT_MS,
  type FrameFault,
  type SocketEvents,
  type SocketServer,
  type TransportSocket,
  type Upgrade,
} from '../sockets.ts';

/**
 * The largest number of fragments of one message. uWS joins fragments as they arrive, `ws` stores each until the last
 * one.
 */
const MAX_FRAGMENTS = 1024;

const faultByError: Readonly<Record<string, FrameFault>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'too_large',
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 'too_large',
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 'too_large',
  WS_ERR_INVALID_UTF8: 'invalid_utf8',
};

const socketOf = (ws: WebSocket): TransportSocket => ({
  // Errors are ignored here: `close` reports a broken connection.
  send: (bytes, binary) => ws.send(bytes, { binary }, () => {}),
  queuedBytes: () => ws.bufferedAmount,
  ping: () => ws.ping(),
  end: (code, reason) => ws.close(code, reason),
  cut: () => ws.terminate(),
});

function connect(ws: WebSocket, raw: Socket, events: SocketEvents): void {
  let fault: FrameFault | null = null;
  ws.on('error', (error: NodeJS.ErrnoException) => {
    // Faults of frames have an error code of the library. Other errors are faults of the connection.
    if (error.code?.startsWith('WS_')) fault = faultByError[error.code] ?? 'protocol';
  });
  ws.on('message', (data, binary) => {
    if (ws.readyState === ws.OPEN) events.message(data as Buffer, binary);
  });
  ws.on('ping', (data) => {
    events.ping();
    // At most one pong may be queued. A peer that sends pings and does not read must not fill the queue.
    if (ws.readyState === ws.OPEN && ws.bufferedAmount === 0) ws.pong(data);
  });
  ws.on('pong', () => events.pong());
  ws.on('close', (code) => events.closed(code, fault));
  raw.on('drain', () => {
    if (ws.bufferedAmount === 0) events.drained();
  });
  events.opened(socketOf(ws));
}

function refuse(socket: Socket, response: Response): void {
  const { status, headers, body } = toParts(response);
  const bytes = Buffer.from(typeof body === 'string' ? body : '');
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Status'}`, `date: ${new Date().toUTCString()}`];
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i]!.toLowerCase() !== 'content-length') lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push(`content-length: ${bytes.length}`, 'connection: close', '', '');
  socket.end(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), bytes]), () => socket.destroySoon());
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.replace(/\?.*/s, '');

export type NodeSockets = {
  /** True for a handshake of a channel. Any other request with an Upgrade header is answered as a plain request. */
  isHandshake(request: IncomingMessage): boolean;
  /** Resolves when the handshake is answered. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void>;
  /** Waits until all peers have closed, at most `waitMs`, then cuts their connections. */
  end(waitMs: number): Promise<void>;
};

/**
 * WebSockets on node:http, with the library `ws`. It handles frames, pings and the close handshake. The channel does
 * everything else.
 */
export function openNodeSockets(sockets: SocketServer): NodeSockets {
  const open = new Set<Socket>();
  const protocols = new WeakMap<IncomingMessage, string>();
  const servers = new Map(
    sockets.channels.map(({ path, frameBytes }) => [
      path,
      new WebSocketServer({
        noServer: true,
        maxPayload: frameBytes,
        maxFragments: MAX_FRAGMENTS,
        perMessageDeflate: false,
        autoPong: false,
        closeTimeout: CLOSE_TIMEOUT_MS,
        handleProtocols: (_offered, request) => protocols.get(request) || false,
      } as ConstructorParameters<typeof WebSocketServer>[0]),
    ]),
  );
  let onEmpty: (() => void) | undefined;
  const accept = (request: IncomingMessage, socket: Socket, head: Buffer, { protocol, events }: Upgrade): void => {
    let upgraded = false;
    const lost = () => {
      if (!upgraded) events.closed(1006, null);
    };
    if (socket.destroyed) {
      lost();
      return;
    }
    socket.once('close', lost);
    protocols.set(request, protocol);
    servers.get(sockets.pathOf(pathOf(request))!)!.handleUpgrade(request, socket, head, (ws) => {
      upgraded = true;
      connect(ws, socket, events);
    });
  };
  return {
    isHandshake: (request) =>
      request.method === 'GET' &&
      request.headers['sec-websocket-key']?.length === 24 &&
      request.headers['content-length'] === undefined &&
      request.headers['transfer-encoding'] === undefined &&
      sockets.pathOf(pathOf(request)) !== null,
    async upgrade(request, socket, head) {
      open.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        open.delete(socket);
        if (open.size === 0) onEmpty?.();
      });
      const result = await sockets.upgrade(new NodeRequest({ req: request }) as Request);
      if ('events' in result) accept(request, socket, head, result);
      else refuse(socket, result);
    },
    async end(waitMs) {
      if (open.size > 0)
        await new Promise<void>((resolve) => {
          onEmpty = resolve;
          setTimeout(resolve, waitMs);
        });
      for (const socket of open) socket.destroy();
    },
  };
}
