import { randomBytes } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { externalSignature } from '@tradepost/external-wms';

export type InnerCallback = {
  request_id: string;
  callback_id: string;
  status: 'success' | 'failed' | 'processing';
  message: string;
};
/** `retry`: the shop did not answer, or its answer asks for another attempt. */
export type Verdict = 'delivered' | 'refused' | 'retry';

/** The code of the envelope has priority over the HTTP status. 408, 425 and 429 ask for another attempt. */
function verdictOf(status: number, text: string): Verdict {
  let code: unknown;
  try {
    code = (JSON.parse(text) as { code?: unknown } | null)?.code;
  } catch {}
  const effective = Number.isInteger(code) ? Number(code) : status;
  if (code === 0 && status < 300) return 'delivered';
  return effective >= 400 && effective < 500 && ![408, 425, 429].includes(effective) ? 'refused' : 'retry';
}

/** Sends signed callbacks over a few kept connections. */
export function openSender({ appKey, appSecret }: { appKey: string; appSecret: string }) {
  const options = { keepAlive: true, maxSockets: 32 };
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) };

  const post = (url: URL, body: string, timeoutMs: number) =>
    new Promise<Verdict>((resolve) => {
      const secure = url.protocol === 'https:';
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const agent = agents[secure ? 'https:' : 'http:'];
      const request = (secure ? httpsRequest : httpRequest)(url, { method: 'POST', headers, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve(verdictOf(response.statusCode ?? 0, text)));
        response.on('error', () => resolve('retry'));
      });
      const timer = setTimeout(() => request.destroy(), timeoutMs);
      request.on('close', () => {
        clearTimeout(timer);
        // This has no effect after the answer was read.
        resolve('retry');
      });
      request.on('error', () => resolve('retry'));
      request.end(body);
    });

  return {
    send(url: string, inner: InnerCallback, timeoutMs: number): Promise<Verdict> {
      const parts = {
        app_key: appKey,
        timestamp: String(Math.trunc(Date.now() / 1000)),
        nonce: randomBytes(16).toString('hex'),
        body: JSON.stringify(inner),
      };
      const body = JSON.stringify({ ...parts, sign: externalSignature(parts, appSecret) });
      return post(new URL(url), body, timeoutMs);
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
export type Sender = ReturnType<typeof openSender>;
