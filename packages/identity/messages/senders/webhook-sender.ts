import { createHmac } from 'node:crypto';
import { smsWebhookSecret, smsWebhookUrl } from '../message-settings.ts';
import { loginCodeNotice } from '../notices.ts';
import { type MessageSender, SendError, type ShopperMessage } from '../sender.ts';
import { postMessage } from './post-message.ts';

/** Answers by which the receiver refuses this message for good. */
const permanentStatuses: ReadonlySet<number> = new Set([400, 410, 413, 422]);

/** `t=<unix seconds>,v1=<hex HMAC-SHA256 over t.body>`. The time is signed, so the receiver can refuse old messages. */
function signatureOf(secret: string, seconds: number, body: string): string {
  const v1 = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${v1}`;
}

function bodyOf({ id, notice, phone, params, text, expires_at }: ShopperMessage): string {
  if (notice === loginCodeNotice.name) return JSON.stringify({ id, phone, code: params.code, expires_at });
  return JSON.stringify({ id, kind: notice, phone, params, text });
}

/** Posts messages to a program of the operator, which sends them. */
export const webhookSender: MessageSender = {
  name: 'webhook',
  channel: 'sms',
  missing: ({ settings }) =>
    [smsWebhookUrl, smsWebhookSecret].filter((one) => settings.get(one) === '').map(({ key }) => key),
  open: (runtime) => ({
    async send(message, signal) {
      const { settings } = runtime;
      const body = bodyOf(message);
      const seconds = Math.trunc(runtime.now().getTime() / 1000);
      const signature = signatureOf(settings.get(smsWebhookSecret), seconds, body);
      const headers = { 'content-type': 'application/json', 'x-tradepost-signature': signature };
      const answer = await postMessage(
        settings.get(smsWebhookUrl),
        { headers, body },
        { service: 'the SMS webhook', signal, isRead: false },
      );
      if (!answer.ok)
        throw new SendError(`the SMS webhook answered ${answer.status}`, {
          permanent: permanentStatuses.has(answer.status),
        });
    },
  }),
};
