import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One call as the server received it. */
export type Received = {
  method: string;
  path: string;
  rawHeaders: string[];
  headers: IncomingHttpHeaders;
  body: Buffer;
  socket: Socket;
  /** The number of the call on its connection, from 1. */
  numberOnSocket: number;
};
export type Behaviour = (call: Received, response: ServerResponse) => void;

export const json = (value: unknown, status = 200): Behaviour => raw(JSON.stringify(value), status);
export const raw =
  (text: string, status = 200, headers: Record<string, string> = { 'content-type': 'application/json' }): Behaviour =>
  (_call, response) =>
    response.writeHead(status, headers).end(text);

/**
 * An external warehouse on loopback that answers as the test defines, correctly or not. `behave` can be replaced at any time.
 * `calls` holds all calls that it received.
 */
export async function startWarehouseServer(behaviour: Behaviour = json({ code: 0 })) {
  const calls: Received[] = [];
  const connections = new Set<Socket>();
  const perSocket = new WeakMap<Socket, number>();
  const waiting: { count: number; resolve: () => void }[] = [];
  const warehouse = { behave: behaviour, calls, sockets: 0, url: '' };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', rawHeaders, headers, socket } = request;
      const numberOnSocket = (perSocket.get(socket) ?? 0) + 1;
      perSocket.set(socket, numberOnSocket);
      const call = { method, path, rawHeaders, headers, body: Buffer.concat(chunks), socket, numberOnSocket };
      calls.push(call);
      warehouse.behave(call, response);
      for (const { count, resolve } of waiting) if (calls.length >= count) resolve();
    });
  });
  server.on('connection', (socket: Socket) => {
    warehouse.sockets += 1;
    connections.add(socket);
    socket.on('close', () => connections.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  warehouse.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(warehouse, {
    connections,
    /** Resolves when `count` calls have arrived. */
    received: (count: number) =>
      new Promise<void>((resolve) => {
        if (calls.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    async close() {
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
