import { tc3Authorization } from '@tradepost/outbound-http';
import { z } from 'zod';
import {
  missingForSms,
  smsAccessKey,
  smsAppId,
  smsEndpoint,
  smsRegion,
  smsSecretKey,
  smsSignName,
  smsTemplateOf,
} from '../message-settings.ts';
import { plainPhone } from '../phone.ts';
import { type MessageSender, SendError, type SenderRuntime, type ShopperMessage } from '../sender.ts';
import { parseJson, postMessage, refusedBy } from './post-message.ts';

const publicEndpoint = 'https://sms.tencentcloudapi.com';
const service = 'tencent';
const contentType = 'application/json; charset=utf-8';
const code = z.object({ Code: z.string().min(1) });
/** One request has one phone, so the answer has one status. A refused request has an error instead. */
const answerSchema = z.object({
  Response: z.union([z.object({ Error: code }), z.object({ SendStatusSet: z.tuple([code]) })]),
});
/** Codes of a service that is busy or limits the rate. Another attempt can succeed. */
const retryable = /^(?:RequestLimitExceeded|LimitExceeded|InternalError|ResourceUnavailable)(?:\.|$)/;

/** E.164. Numbers without a country code are Chinese ones. */
function numberOf(phone: string): string {
  const number = plainPhone(phone);
  return /^1\d{10}$/.test(number) ? `+86${number}` : number;
}

async function sendSms(
  runtime: SenderRuntime,
  { id, notice, phone, params }: ShopperMessage,
  signal: AbortSignal,
): Promise<void> {
  const { settings } = runtime;
  const endpoint = new URL(settings.get(smsEndpoint) || publicEndpoint);
  const body = JSON.stringify({
    PhoneNumberSet: [numberOf(phone)],
    SmsSdkAppId: settings.get(smsAppId),
    SignName: settings.get(smsSignName),
    TemplateId: smsTemplateOf(settings, notice),
    TemplateParamSet: Object.values(params),
    SessionContext: id,
  });
  const seconds = Math.trunc(runtime.now().getTime() / 1000);
  const signed = { 'content-type': contentType, host: endpoint.host, 'x-tc-action': 'SendSms' };
  const authorization = tc3Authorization(
    { service: 'sms', headers: signed, body, seconds },
    { id: settings.get(smsAccessKey), secret: settings.get(smsSecretKey) },
  );
  const headers = {
    'content-type': contentType,
    'x-tc-action': 'SendSms',
    'x-tc-version': '2021-01-11',
    'x-tc-timestamp': String(seconds),
    'x-tc-region': settings.get(smsRegion),
    authorization,
  };
  const answer = await postMessage(endpoint, { headers, body }, { service, signal, isRead: true });
  const parsed = answerSchema.safeParse(parseJson(answer.text));
  if (!parsed.success) throw new SendError(`${service} answered ${answer.status} without a code`);
  const { Response: response } = parsed.data;
  const outcome = 'Error' in response ? response.Error.Code : response.SendStatusSet[0].Code;
  if (outcome === 'Ok' && answer.ok) return;
  if (answer.status >= 500) throw new SendError(`${service} answered ${answer.status}`);
  throw refusedBy(service, outcome, retryable);
}

/** The SMS service of Tencent Cloud (SendSms, signature version 3). */
export const tencentSender: MessageSender = {
  name: service,
  channel: 'sms',
  missing: ({ settings }, notice) =>
    missingForSms(settings, [smsAccessKey, smsSecretKey, smsSignName, smsAppId], notice),
  open: (runtime) => ({ send: (message, signal) => sendSms(runtime, message, signal) }),
};
