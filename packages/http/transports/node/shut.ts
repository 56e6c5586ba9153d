import type { Server as HttpServer } from 'node:http';
import { Server as NetServer } from 'node:net';
import { GOODBYE_MS, type SocketServer } from '../sockets.ts';
import type { NodeServer } from './node-server.ts';
import type { NodeSockets } from './sockets.ts';

type Closing = {
  server: NodeServer;
  http: HttpServer;
  channels: SocketServer | null | undefined;
  sockets: NodeSockets | null;
};

/** Waits for the running requests until the deadline, then closes all connections. */
export const shut = async ({ server, http, channels, sockets }: Closing, deadlineMs: number): Promise<void> => {
  server.closing = true;
  for (const res of server.active) if (!res.headersSent) res.shouldKeepAlive = false;
  const channelsClosed = channels?.close(deadlineMs);
  // `http.close()` would cut connections whose response is written but not yet sent: it takes them for idle.
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
  // It no longer listens; this stops its timer.
  http.close(() => {});
  await stopped;
};
