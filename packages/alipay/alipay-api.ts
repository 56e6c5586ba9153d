import type { KeyObject } from 'node:crypto';
import { paymentErrors } from '@tradepost/orders';
import { openGuardedFetch, openPartnerGuard, rsaPrivateKey, rsaPublicKey } from '@tradepost/outbound-http';
import { type Runtime, tracedFetch } from '@tradepost/runtime';
import { z } from 'zod';
import { type Fields, isNoticeSigned, isTextSigned, rawValue, signFields } from './rsa2.ts';
import { appId, gatewayUrl, privateKey, publicKey, sandbox } from './settings.ts';

export const providerName = 'alipay';

/** Alipay refused a call. `code` is the sub-code, such as ACQ.TRADE_NOT_EXIST. */
export class AlipayError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.name = 'AlipayError';
    this.code = code;
  }
}

const maxAnswerBytes = 64 * 1024 * 1024;
const chinaMs = 8 * 60 * 60_000;
const outcome = z.looseObject({
  code: z.string(),
  msg: z.string().default(''),
  sub_code: z.string().max(100).default(''),
  sub_msg: z.string().default(''),
});

/** A time as Alipay writes it: in China, without zone. */
export const chinaTime = (at: Date): string =>
  new Date(at.getTime() + chinaMs).toISOString().slice(0, 19).replace('T', ' ');
/** The reverse. An absent or wrong time is the beginning of time. */
export function fromChinaTime(text: string | undefined): Date {
  const at = new Date(`${(text ?? '').replace(' ', 'T')}+08:00`);
  return Number.isNaN(at.getTime()) ? new Date(0) : at;
}

type Request = { method: string; content: object; notify_url?: string; return_url?: string };
export type AlipayApi = ReturnType<typeof openAlipayApi>;

/** Calls of the gateway with RSA2. The signatures of the answers are verified. */
export function openAlipayApi({ settings, now }: Pick<Runtime, 'settings' | 'now'>) {
  const net = openGuardedFetch(openPartnerGuard(), { connectMs: 5_000, maxAnswerBytes, connectionsPerOrigin: 16 });
  const send = tracedFetch(providerName, net.fetch);
  const required = (key: KeyObject | null, missing: string): KeyObject => {
    if (!key) throw paymentErrors.provider_not_ready({ provider: providerName, missing });
    return key;
  };
  const theirKey = () => required(rsaPublicKey(settings.get(publicKey)), publicKey.key);
  const gateway = () =>
    settings.get(gatewayUrl) ||
    (settings.get(sandbox)
      ? 'https://openapi-sandbox.dl.alipaydev.com/gateway.do'
      : 'https://openapi.alipay.com/gateway.do');

  const request = ({ method, content, notify_url = '', return_url = '' }: Request): Record<string, string> => {
    const fields = {
      ...{ app_id: settings.get(appId), method, format: 'JSON', charset: 'utf-8', sign_type: 'RSA2', version: '1.0' },
      ...{ timestamp: chinaTime(now()), biz_content: JSON.stringify(content) },
      ...(notify_url === '' ? {} : { notify_url }),
      ...(return_url === '' ? {} : { return_url }),
    };
    return signFields(fields, required(rsaPrivateKey(settings.get(privateKey)), privateKey.key));
  };
  return {
    /** The signed request as text, for the SDK of an app. */
    orderString: (of: Request): string => new URLSearchParams(request(of)).toString().replaceAll('+', '%20'),
    /** The signed request as the address of a page. */
    pageUrl(of: Request): string {
      const url = new URL(gateway());
      for (const [name, value] of Object.entries(request(of))) url.searchParams.set(name, value);
      return url.toString();
    },
    /** Whether Alipay sent this notice, to this app. */
    isGenuine: (fields: Fields): boolean => fields.app_id === settings.get(appId) && isNoticeSigned(fields, theirKey()),
    /** The answer of a call. Throws AlipayError, or an error of the network. */
    async call<T extends z.ZodType>(of: Request, schema: T, signal: AbortSignal): Promise<z.output<T>> {
      const response = await send(gateway(), {
        ...{ method: 'POST', signal, body: new URLSearchParams(request(of)).toString() },
        headers: { 'content-type': 'application/x-www-form-urlencoded;charset=utf-8', 'user-agent': 'tradepost' },
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`the gateway of Alipay answered HTTP ${response.status}`);
      const raw = rawValue(text, `${of.method.replaceAll('.', '_')}_response`);
      // A request that the gateway does not understand is answered without a signature.
      const answer = outcome.parse(JSON.parse(raw ?? rawValue(text, 'error_response') ?? '{}'));
      const sign = z.object({ sign: z.string().default('') }).parse(JSON.parse(text)).sign;
      const isOk = answer.code === '10000';
      if (isOk && (raw === null || !isTextSigned(raw, sign, theirKey())))
        throw new Error('the answer of Alipay has no valid signature');
      if (!isOk) throw new AlipayError(answer.sub_code || answer.code, (answer.sub_msg || answer.msg).slice(0, 300));
      return schema.parse(answer);
    },
    /** A file. */
    async download(url: string, signal: AbortSignal): Promise<Uint8Array> {
      const response = await send(url, { signal });
      if (!response.ok) throw new Error(`the download of Alipay answered HTTP ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    },
    close: net.close,
  };
}
