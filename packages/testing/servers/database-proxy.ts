import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { proxyConnection } from './proxied-connection.ts';
import { type Boundary, type Gate, openGates } from './statement-gates.ts';

export type DatabaseProxy = {
  /** The address of the database through the proxy. */
  url: string;
  /** Holds the statement, and all statements after it on its connection, until `go`. */
  pauseBefore(at: Boundary): Gate;
  /** Breaks the connection instead of sending the statement. */
  cutBefore(at: Boundary): Gate;
  /** Breaks the connection after the database has executed the statement, before the client gets the answer. */
  cutAfter(at: Boundary): Gate;
  /** Sends new connections to this address: a restarted server has another port. */
  target(url: string): void;
  close(): Promise<void>;
};

/**
 * A proxy in front of PostgreSQL that reads the protocol. A test holds one statement of a running use case, or breaks the
 * connection there, without a change of the code under test. It also separates statements that arrive in one chunk. Gates apply
 * to the pool that serves requests and jobs (application_name `tradepost`), not to listeners and job queues.
 */
export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  let server = new URL(databaseUrl);
  const gates = openGates();
  const sockets = new Set<Socket>();
  const relay = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: server.hostname, port: Number(server.port || 5432), noDelay: true });
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    proxyConnection(client, upstream, gates);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((relay.address() as AddressInfo).port);
  return {
    url: url.toString(),
    pauseBefore: (at) => gates.arm(at, 'pause'),
    cutBefore: (at) => gates.arm(at, 'cut before'),
    cutAfter: (at) => gates.arm(at, 'cut after'),
    target(next) {
      server = new URL(next);
    },
    async close() {
      gates.clear();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => relay.close(() => resolve()));
    },
  };
}
