import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answers of services that fail, in the form of each protocol. `quoted` quotes the request and the key. */
const answers: Readonly<Record<string, (quoted: string, body: string) => { status: number; body: string }>> = {
  kuaidi100: (quoted) => json(200, { status: '500', returnCode: '503', message: quoted }),
  kdniao: (quoted) => json(200, { Success: false, Reason: quoted }),
  // The two SMS services have addresses without a path.
  '': (quoted) => json(200, { Code: quoted, Message: quoted, Response: { Error: { Code: quoted, Message: quoted } } }),
  wechat: (quoted) => json(200, { errcode: 40125, errmsg: quoted, session_key: quoted }),
  bucket: (quoted) => ({
    status: 403,
    body: `<Error><Code>${quoted.replaceAll('<', '').slice(0, 100)}</Code><Message>${quoted}</Message></Error>`,
  }),
  warehouse: (quoted) => json(200, { code: 4002, message: quoted, msg: quoted }),
  refund: (quoted, body) =>
    json(200, { refund_no: JSON.parse(body).refund_no, status: 'failed', refund_id: quoted, message: quoted }),
  images: (quoted) =>
    json(401, { error: { message: quoted, code: quoted, type: quoted }, code: quoted, message: quoted }),
  model: (quoted) => json(401, { error: { message: quoted, code: 'invalid_api_key', type: quoted, param: quoted } }),
  message: (quoted) => ({ status: 500, body: quoted }),
  hook: (quoted) => ({ status: 500, body: quoted }),
};
const json = (status: number, value: unknown) => ({ status, body: JSON.stringify(value) });

/**
 * Services on loopback that refuse everything and quote the key of the shop in their reasons: as it is, in base64 and for a URL.
 * Some services do so. `keyOf` returns the keys that the shop has at a service. The first part of a path is the name of the service,
 * the second one may name an account.
 */
export async function openEchoingServices(keyOf: (service: string, account: string) => readonly string[]) {
  const received: { service: string; body: string }[] = [];
  let override: Readonly<Record<string, (quoted: string) => unknown>> = {};
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const [, service = '', account = ''] = (request.url ?? '').split(/[/?]/);
    const sent = Buffer.concat(chunks).toString('utf8');
    received.push({ service, body: sent });
    const quoted = keyOf(service, account)
      .map((key) => `key ${key} is not valid (${Buffer.from(key).toString('base64')}, ${encodeURIComponent(key)})`)
      .concat(request.headers.authorization ?? '', request.url ?? '')
      .join(' ');
    const special = override[service];
    const { status, body } = special ? json(200, special(quoted)) : (answers[service] ?? answers.hook!)(quoted, sent);
    response.writeHead(status, { 'content-type': service === 'bucket' ? 'application/xml' : 'application/json' });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: (service: string) => `${origin}/${service}`,
    /** All requests. */
    received,
    bodiesOf: (service: string) => received.filter((one) => one.service === service).map(({ body }) => body),
    /** Other answers with status 200, until the next call. */
    answer(next: typeof override) {
      override = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type EchoingServices = Awaited<ReturnType<typeof openEchoingServices>>;
