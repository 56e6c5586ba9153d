import type { Server as HttpServer } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeListener } from '../close-listener.ts';
import { GOODBYE_MS, type SocketServer } from '../sockets.ts';
import type { NodeServer } from './node-server.ts';
import type { NodeSockets } from './sockets.ts';

type Closing = {
  server: NodeServer;
  http: HttpServer;
  port: number;
  channels: SocketServer | null | undefined;
  sockets: NodeSockets | null;
  keepIdle: boolean;
};

/** Waits for the running requests until the deadline, then closes all connections. */
export const shut = async (
  { server, http, port, channels, sockets, keepIdle }: Closing,
  deadlineMs: number,
): Promise<void> => {
  const end = performance.now() + deadlineMs;
  const { promise: stopped, resolve: onStopped } = Promise.withResolvers<void>();
  // `http.close()` would cut connections whose response is written but not yet sent: it takes them for idle.
  const close = () => void NetServer.prototype.close.call(http, () => onStopped());
  if (keepIdle) await closeListener(port, close);
  else close();
  server.closing = true;
  for (const res of server.active) if (!res.headersSent) res.shouldKeepAlive = false;
  const channelsClosed = channels?.close(deadlineMs);
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
  if (keepIdle) await Promise.race([stopped, sleep(end - performance.now(), undefined, { ref: false })]);
  http.closeAllConnections();
  // It no longer listens; this stops its timer.
  http.close(() => {});
  await stopped;
};
