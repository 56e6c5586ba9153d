import { createSign, type KeyObject, randomBytes } from 'node:crypto';
import { paymentErrors } from '@tradepost/orders';
import { openGuardedFetch, openPartnerGuard, rsaPrivateKey, rsaPublicKey } from '@tradepost/outbound-http';
import { type Runtime, type Setting, secretsMask, tracedFetch } from '@tradepost/runtime';
import { z } from 'zod';
import { decryptSealed } from './aead.ts';
import { isSigned, openPlatformKeys, platformKeyOf } from './platform-keys.ts';
import { apiUrl, apiV3Key, mchId, privateKey, publicKey, publicKeyId, serialNo } from './settings.ts';

export const providerName = 'wechat';

/** WeChat Pay answered with an error. `code` is its name. */
export class WechatError extends Error {
  readonly code: string;
  readonly status: number;
  constructor(status: number, code: string, message: string) {
    super(`${code}: ${message}`);
    this.name = 'WechatError';
    this.status = status;
    this.code = code;
  }
}

/** A message may be this much older or newer than our clock. */
const clockSeconds = 300;
const maxAnswerBytes = 64 * 1024 * 1024;
const errorAnswer = z.object({ code: z.string().max(64), message: z.string().default('') });
const sealed = z.object({ ciphertext: z.string(), nonce: z.string(), associated_data: z.string().optional() });
const certificates = z.object({ data: z.array(z.object({ serial_no: z.string(), encrypt_certificate: sealed })) });

type Call = { method: 'GET' | 'POST'; path: string; body?: unknown; signal: AbortSignal };
export type WechatApi = ReturnType<typeof openWechatApi>;

/** The signature of a text with the private key of the merchant, in base64. */
export const signed = (text: string, key: KeyObject): string =>
  createSign('RSA-SHA256').update(text).sign(key, 'base64');

/** Signed requests of API v3. Their answers are not verified here. */
function openRequests({ settings, now }: Pick<Runtime, 'settings' | 'now'>) {
  const net = openGuardedFetch(openPartnerGuard(), { connectMs: 5_000, maxAnswerBytes, connectionsPerOrigin: 16 });
  const send = tracedFetch(providerName, net.fetch);
  const merchantKey = (): KeyObject => {
    const key = rsaPrivateKey(settings.get(privateKey));
    if (!key) throw paymentErrors.provider_not_ready({ provider: providerName, missing: privateKey.key });
    return key;
  };
  const mask = (text: string) =>
    secretsMask([privateKey, apiV3Key].map((one: Setting<string>) => settings.get(one)).filter(Boolean))(text);

  const authorization = (method: string, target: string, body: string) => {
    const timestamp = String(Math.trunc(now().getTime() / 1000));
    const nonce = randomBytes(16).toString('hex');
    const signature = signed(`${method}\n${target}\n${timestamp}\n${nonce}\n${body}\n`, merchantKey());
    const fields = {
      mchid: settings.get(mchId),
      nonce_str: nonce,
      signature,
      timestamp,
      serial_no: settings.get(serialNo),
    };
    return `WECHATPAY2-SHA256-RSA2048 ${Object.entries(fields)
      .map(([name, value]) => `${name}="${value}"`)
      .join(',')}`;
  };

  const request = async (url: URL, { method, body, signal }: Call): Promise<{ response: Response; bytes: Buffer }> => {
    const sent = body === undefined ? '' : JSON.stringify(body);
    const keyId = settings.get(publicKeyId);
    const response = await send(url, {
      ...{ method, signal },
      ...(sent === '' ? {} : { body: sent }),
      headers: {
        authorization: authorization(method, url.pathname + url.search, sent),
        ...{ accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'tradepost' },
        // WeChat Pay then signs with this key and not with a certificate.
        ...(keyId === '' ? {} : { 'wechatpay-serial': keyId }),
      },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.ok) return { response, bytes };
    let fault: z.output<typeof errorAnswer> = { code: `HTTP_${response.status}`, message: '' };
    try {
      fault = errorAnswer.parse(JSON.parse(bytes.toString('utf8')));
    } catch {
      // The answer is not of the protocol: its status is all there is.
    }
    throw new WechatError(response.status, fault.code, mask(fault.message).slice(0, 300));
  };

  return { request, merchantKey, close: net.close };
}

/** Signed calls of API v3. The signatures of the answers are verified. */
export function openWechatApi(runtime: Pick<Runtime, 'settings' | 'now'>) {
  const { settings, now } = runtime;
  const { request, merchantKey, close } = openRequests(runtime);
  const addressOf = (path: string) => new URL(settings.get(apiUrl).replace(/\/$/, '') + path);
  const opened = (of: z.output<typeof sealed>) => decryptSealed(of, settings.get(apiV3Key));
  const keys = openPlatformKeys(async (signal) => {
    const url = addressOf('/v3/certificates');
    // Its signature needs the certificate that it brings. The API v3 key makes it genuine.
    const { bytes } = await request(url, { method: 'GET', path: url.pathname, signal });
    return certificates
      .parse(JSON.parse(bytes.toString('utf8')))
      .data.map((one) => platformKeyOf(opened(one.encrypt_certificate)));
  }, now);

  const keyOf = async (serial: string, signal: AbortSignal): Promise<KeyObject | null> => {
    const keyId = settings.get(publicKeyId);
    if (keyId !== '' && serial === keyId) return rsaPublicKey(settings.get(publicKey));
    // A merchant with a public key may have no certificates at all.
    return keys.keyOf(serial, `${settings.get(apiUrl)} ${settings.get(mchId)}`, signal);
  };

  /** Throws unless WeChat Pay signed this message, recently. */
  const verify = async (headers: Headers, body: string, signal: AbortSignal): Promise<void> => {
    const of = (name: string) => headers.get(`wechatpay-${name}`) ?? '';
    const timestamp = of('timestamp');
    if (!/^\d{1,12}$/.test(timestamp) || of('serial') === '') throw paymentErrors.signature_invalid();
    const key = await keyOf(of('serial'), signal);
    if (!key || !isSigned({ timestamp, nonce: of('nonce'), body }, of('signature'), key))
      throw paymentErrors.signature_invalid();
    if (Math.abs(now().getTime() / 1000 - Number(timestamp)) > clockSeconds) throw paymentErrors.signature_expired();
  };

  return {
    verify,
    opened,
    merchantKey,
    /** The answer of a call as its schema has it. Throws WechatError, or an error of the network. */
    async call<T extends z.ZodType>(given: Call, schema: T): Promise<z.output<T>> {
      const { response, bytes } = await request(addressOf(given.path), given);
      const text = bytes.toString('utf8');
      if (response.status === 204) return schema.parse(null);
      await verify(response.headers, text, given.signal);
      return schema.parse(JSON.parse(text));
    },
    /** A file. Its answer has no signature: the caller compares its digest. */
    download: async (url: string, signal: AbortSignal): Promise<Buffer> =>
      (await request(new URL(url), { method: 'GET', path: '', signal })).bytes,
    close,
  };
}
