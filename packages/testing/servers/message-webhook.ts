import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Posted = { body: string; signature: string; message: Record<string, unknown> };

/** A receiver of the SMS webhook on loopback. `respond` can be replaced at any time. */
export async function openWebhook() {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      posted.push({ body, signature: String(request.headers['x-tradepost-signature']), message: JSON.parse(body) });
      webhook.respond(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const webhook = {
    posted,
    respond: (response: ServerResponse): unknown => response.writeHead(200).end('ok'),
    settings: {
      'sms.provider': 'webhook',
      'sms.webhook_url': `http://127.0.0.1:${(server.address() as AddressInfo).port}/sms`,
      'sms.webhook_secret': 'hook secret',
    },
    /** Answers every call with this status. */
    answer(status: number) {
      webhook.respond = (response) => response.writeHead(status).end();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return webhook;
}
export type Webhook = Awaited<ReturnType<typeof openWebhook>>;
