import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};
/** Answers a request. The default is 204. */
export type Behaviour = (received: Received, response: ServerResponse) => void;

/**
 * Verifies a request as the Standard Webhooks specification says, written from its text: any of the signatures may match, and the time
 * is within five minutes.
 */
export function isSigned(secret: string, { headers, body }: Pick<Received, 'headers' | 'body'>): boolean {
  const [id, seconds, signatures] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]));
  if (Math.abs(Date.now() / 1_000 - Number(seconds)) > 300) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${seconds}.${body}`, 'utf8').digest();
  return signatures!.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** A receiver of webhooks on loopback. */
export async function openReceiver(behaviour: Behaviour = (_, response) => response.writeHead(204).end(), port = 0) {
  const accepted: Received[] = [];
  const requests: Received[] = [];
  let behave = behaviour;
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const body = Buffer.concat(chunks).toString('utf8');
    const { id, type, data } = JSON.parse(body) as Received;
    const received = { id, type, data, headers: request.headers, body };
    requests.push(received);
    response.on('finish', () => {
      if (response.statusCode < 300) accepted.push(received);
    });
    behave(received, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/hooks?key=1`,
    port: address.port,
    /** All requests, and those that were answered with a success, in their order. */
    requests,
    accepted,
    /** The accepted requests, each id once. */
    counted: (): Received[] => [...new Map([...accepted].reverse().map((one) => [one.id, one])).values()].reverse(),
    behave(next: Behaviour) {
      behave = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type Receiver = Awaited<ReturnType<typeof openReceiver>>;
