import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A proxy in the place of nginx. It keeps connections, and only repeats refused connections. A request is on its way for
 * `latencyMs`, as in a real network: meanwhile the process may close the connection.
 */
export async function startSimpleProxy(
  ports: readonly number[],
  latencyMs = 0,
): Promise<{ port: number; close(): Promise<void> }> {
  const agent = new Agent({ keepAlive: true, timeout: 4_000 });
  let turn = 0;
  /** `first` is the place of the process that is tried first. Other requests move `turn` meanwhile. */
  const pass = (incoming: IncomingMessage, response: ServerResponse, body: Buffer, first: number, tries = 1): void => {
    const { method, url: path, headers } = incoming;
    const sent = request({
      agent,
      host: '127.0.0.1',
      port: ports[(first + tries) % ports.length],
      method,
      path,
      headers,
    });
    sent.once('response', (answer) => {
      const { connection: _, 'keep-alive': __, ...kept } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, kept);
      answer.pipe(response);
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && tries < ports.length) pass(incoming, response, body, first, tries + 1);
      else if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    if (latencyMs === 0) sent.end(body);
    else sent.once('socket', () => setTimeout(() => sent.end(body), latencyMs));
  };
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    turn += 1;
    pass(incoming, response, Buffer.concat(parts), turn);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await once(server, 'close');
    },
  };
}
