import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  missingForSms,
  smsAccessKey,
  smsEndpoint,
  smsSecretKey,
  smsSignName,
  smsTemplateOf,
} from '../message-settings.ts';
import { plainPhone } from '../phone.ts';
import { type MessageSender, SendError, type SenderRuntime, type ShopperMessage } from '../sender.ts';
import { acs3Headers, canonicalQuery } from './acs3-signature.ts';
import { parseJson, postMessage, refusedBy } from './post-message.ts';

const publicEndpoint = 'https://dysmsapi.aliyuncs.com';
const service = 'aliyun';
const answerSchema = z.object({ Code: z.string().min(1) });
/** Codes of a service that is busy or limits the rate. Another attempt can succeed. */
const retryable =
  /^(?:Throttling|ServiceUnavailable|InternalError|SignatureNonceUsed)|SYSTEM_ERROR$|^isv\.BUSINESS_LIMIT_CONTROL$/;

/** Chinese numbers have no prefix. Other numbers have their country code without the plus sign. */
const numberOf = (phone: string): string => plainPhone(phone).replace('+', '');

async function sendSms(
  runtime: SenderRuntime,
  { id, notice, phone, params }: ShopperMessage,
  signal: AbortSignal,
): Promise<void> {
  const { settings } = runtime;
  const endpoint = new URL(settings.get(smsEndpoint) || publicEndpoint);
  const query = canonicalQuery({
    PhoneNumbers: numberOf(phone),
    SignName: settings.get(smsSignName),
    TemplateCode: smsTemplateOf(settings, notice),
    TemplateParam: JSON.stringify(params),
    OutId: id,
  });
  const headers = acs3Headers(
    { host: endpoint.host, action: 'SendSms', version: '2017-05-25', query, nonce: randomUUID(), at: runtime.now() },
    { id: settings.get(smsAccessKey), secret: settings.get(smsSecretKey) },
  );
  const answer = await postMessage(`${endpoint.origin}/?${query}`, { headers }, { service, signal, isRead: true });
  const parsed = answerSchema.safeParse(parseJson(answer.text));
  if (!parsed.success) throw new SendError(`${service} answered ${answer.status} without a code`);
  const { Code: code } = parsed.data;
  if (code === 'OK' && answer.ok) return;
  if (answer.status >= 500) throw new SendError(`${service} answered ${answer.status}`);
  throw refusedBy(service, code, retryable);
}

/** The SMS service of Alibaba Cloud (SendSms, signature version 3). */
export const aliyunSender: MessageSender = {
  name: service,
  channel: 'sms',
  missing: ({ settings }, notice) => missingForSms(settings, [smsAccessKey, smsSecretKey, smsSignName], notice),
  open: (runtime) => ({ send: (message, signal) => sendSms(runtime, message, signal) }),
};
