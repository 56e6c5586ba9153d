import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const maxBodyBytes = 16 * 1024 * 1024;

/** The body of a request; null when it is too large. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Read to its end also when it is too large, so that the answer can be sent.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  return bytes > maxBodyBytes ? null : Buffer.concat(chunks);
}

export function sendJson(response: ServerResponse, status: number, answer: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(answer));
}

/** Sends JSON without an end, until the client closes the connection. */
export function sendEndless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"created":1,"data":[{"b64_json":"');
  const more = () => {
    while (!response.destroyed && response.write('A'.repeat(64 * 1024)));
  };
  response.on('drain', more);
  more();
}

/** Returns the address at which the server listens, as this machine reaches it. */
export async function listen(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${bound}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
}
