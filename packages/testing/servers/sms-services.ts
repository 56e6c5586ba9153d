import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message that the service has accepted. `params` are in the form of the service. */
export type AcceptedSms = { phone: string; template: string; params: unknown; sign: string; id: string };
type Call = { request: IncomingMessage; url: URL; body: string };
/** What the simulated service answers: a code of the service, or anything else. */
export type Misbehaviour = { code: string } | { respond: (response: ServerResponse) => void } | null;

export const account = { id: 'test-key-id', secret: 'test-key-secret', sign: '河边陶社', appId: '1400000001' };
/** The settings of a shop with an account at the service. All templates are known to it. */
export const accountSettings = (provider: 'aliyun' | 'tencent', endpoint: string) => ({
  'sms.provider': provider,
  'sms.endpoint': endpoint,
  'sms.access_key': account.id,
  'sms.secret_key': account.secret,
  'sms.sign_name': account.sign,
  ...(provider === 'tencent' ? { 'sms.app_id': account.appId } : {}),
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const header = ({ headers }: IncomingMessage, name: string) => String(headers[name] ?? '');
const json = (response: ServerResponse, status: number, value: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** A simulated SMS service on loopback. `misbehave` replaces the answer to requests with a valid signature. */
async function openService(handle: (call: Call, response: ServerResponse, service: SmsService) => void) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      service.calls += 1;
      const body = Buffer.concat(chunks).toString();
      handle({ request, url: new URL(request.url ?? '/', 'http://simulator'), body }, response, service);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service: SmsService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: [],
    calls: 0,
    misbehave: null,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}
export type SmsService = {
  readonly url: string;
  readonly accepted: AcceptedSms[];
  /** All requests, refused ones too. */
  calls: number;
  misbehave: Misbehaviour;
  close(): Promise<void>;
};

/** Calculates the signature of a request from its bytes, as section "V3" of the service's manual describes. */
function aliyunSignature({ request, url, body }: Call): string {
  const names = /SignedHeaders=([^,]+)/.exec(header(request, 'authorization'))?.[1] ?? '';
  const lines = names.split(';').map((name) => `${name}:${header(request, name).trim()}\n`);
  const query = url.search.slice(1).split('&').sort().join('&');
  const canonical = [request.method, url.pathname, query, lines.join(''), names, sha256(body)].join('\n');
  return hmac(account.secret, `ACS3-HMAC-SHA256\n${sha256(canonical)}`).toString('hex');
}

/** The reason to refuse an Alibaba Cloud request, or null. */
function aliyunRefusal(call: Call, nonces: Set<string>): string | null {
  const { request, url, body } = call;
  const authorization = header(request, 'authorization');
  const nonce = header(request, 'x-acs-signature-nonce');
  const required = [
    'host',
    'x-acs-action',
    'x-acs-content-sha256',
    'x-acs-date',
    'x-acs-signature-nonce',
    'x-acs-version',
  ];
  const signed = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? [];
  if (!authorization.startsWith(`ACS3-HMAC-SHA256 Credential=${account.id},`)) return 'InvalidAccessKeyId.NotFound';
  if (required.some((name) => !signed.includes(name))) return 'IncompleteSignature';
  if (!authorization.endsWith(`,Signature=${aliyunSignature(call)}`)) return 'SignatureDoesNotMatch';
  if (header(request, 'x-acs-content-sha256') !== sha256(body)) return 'SignatureDoesNotMatch';
  if (Math.abs(Date.parse(header(request, 'x-acs-date')) - Date.now()) > 15 * 60_000) return 'InvalidTimeStamp.Expired';
  if (nonces.has(nonce)) return 'SignatureNonceUsed';
  nonces.add(nonce);
  if (header(request, 'x-acs-action') !== 'SendSms' || header(request, 'x-acs-version') !== '2017-05-25')
    return 'InvalidAction.NotFound';
  return url.searchParams.get('PhoneNumbers') ? null : 'MissingPhoneNumbers';
}

/** The SMS service of Alibaba Cloud. */
export function openAliyunSms(): Promise<SmsService> {
  const nonces = new Set<string>();
  return openService((call, response, service) => {
    const answer = (status: number, Code: string) =>
      json(response, status, {
        Code,
        Message: `about ${call.url.searchParams.get('PhoneNumbers')}`,
        RequestId: randomUUID(),
      });
    const refusal = aliyunRefusal(call, nonces);
    if (refusal) return answer(400, refusal);
    const { misbehave } = service;
    if (misbehave) return 'code' in misbehave ? answer(200, misbehave.code) : misbehave.respond(response);
    const query = (name: string) => call.url.searchParams.get(name) ?? '';
    const phone = query('PhoneNumbers').replace(/^86(?=1\d{10}$)/, '');
    if (!/^1\d{10}$|^(?!86)[2-9]\d{6,14}$/.test(phone)) return answer(200, 'isv.MOBILE_NUMBER_ILLEGAL');
    if (query('SignName') !== account.sign) return answer(200, 'isv.SMS_SIGNATURE_ILLEGAL');
    const params = JSON.parse(query('TemplateParam')) as Record<string, unknown>;
    if (Object.values(params).some((value) => typeof value !== 'string')) return answer(200, 'isv.INVALID_JSON_PARAM');
    service.accepted.push({ phone, template: query('TemplateCode'), params, sign: account.sign, id: query('OutId') });
    return answer(200, 'OK');
  });
}

/** Calculates the signature of a request from its bytes, as section "v3" of the service's manual describes. */
function tencentSignature({ request, url, body }: Call, date: string): string {
  const names = /SignedHeaders=([^,]+)/.exec(header(request, 'authorization'))?.[1] ?? '';
  const lines = names.split(';').map((name) => `${name}:${header(request, name).trim().toLowerCase()}\n`);
  const canonical = [request.method, url.pathname, '', lines.join(''), names, sha256(body)].join('\n');
  const key = hmac(hmac(hmac(`TC3${account.secret}`, date), 'sms'), 'tc3_request');
  const scope = `${date}/sms/tc3_request`;
  const text = `TC3-HMAC-SHA256\n${header(request, 'x-tc-timestamp')}\n${scope}\n${sha256(canonical)}`;
  return hmac(key, text).toString('hex');
}

/** The reason to refuse a Tencent Cloud request, or null. */
function tencentRefusal(call: Call): string | null {
  const { request } = call;
  const seconds = Number(header(request, 'x-tc-timestamp'));
  if (!(Math.abs(seconds - Date.now() / 1000) < 300)) return 'AuthFailure.SignatureExpire';
  const date = new Date(seconds * 1000).toISOString().slice(0, 10);
  const authorization = header(request, 'authorization');
  if (!authorization.startsWith(`TC3-HMAC-SHA256 Credential=${account.id}/${date}/sms/tc3_request, SignedHeaders=`))
    return 'AuthFailure.SecretIdNotFound';
  if (!/SignedHeaders=content-type;host[;,]/.test(authorization)) return 'AuthFailure.InvalidAuthorization';
  if (!authorization.endsWith(`, Signature=${tencentSignature(call, date)}`)) return 'AuthFailure.SignatureFailure';
  if (header(request, 'x-tc-version') !== '2021-01-11' || header(request, 'x-tc-region') === '')
    return 'MissingParameter';
  return header(request, 'x-tc-action') === 'SendSms' ? null : 'InvalidAction';
}

/** The SMS service of Tencent Cloud. */
export function openTencentSms(): Promise<SmsService> {
  return openService((call, response, service) => {
    const RequestId = randomUUID();
    const fail = (Code: string) =>
      json(response, 200, { Response: { Error: { Code, Message: call.body }, RequestId } });
    const refusal = tencentRefusal(call);
    if (refusal) return fail(refusal);
    const { misbehave } = service;
    if (misbehave && 'respond' in misbehave) return misbehave.respond(response);
    const sms = JSON.parse(call.body);
    const [phone] = sms.PhoneNumberSet as string[];
    const status = (Code: string) =>
      json(response, 200, {
        Response: {
          SendStatusSet: [{ SerialNo: '1', PhoneNumber: phone, Fee: 1, Code, Message: `about ${phone}` }],
          RequestId,
        },
      });
    if (misbehave) return status(misbehave.code);
    if (sms.SmsSdkAppId !== account.appId) return fail('InvalidParameterValue.SdkAppIdNotExist');
    if (sms.SignName !== account.sign) return status('FailedOperation.SignatureIncorrectOrUnapproved');
    if (!/^\+(?:861\d{10}|(?!86)[1-9]\d{6,14})$/.test(phone!))
      return status('InvalidParameterValue.IncorrectPhoneNumber');
    service.accepted.push({
      phone: phone!.replace(/^\+86/, ''),
      template: sms.TemplateId,
      params: sms.TemplateParamSet,
      sign: sms.SignName,
      id: sms.SessionContext,
    });
    return status('Ok');
  });
}
