import { createHmac } from 'node:crypto';
import type { Runtime, TaskHandler } from '@tradepost/runtime';
import { z } from 'zod';
import { smsProvider, smsWebhookSecret, smsWebhookUrl } from '../settings.ts';
import { faultKind } from './fault-kind.ts';
import { codeLifeMs, newCode } from './sms-codes.ts';
import { selectPhoneOfRequest, updateWaitingCode } from './sms-store.ts';

const payloadSchema = z.object({ request_id: z.uuid() });
const deadlineMs = 5_000;

/** `t=<unix seconds>,v1=<hex HMAC-SHA256 over t.body>`. The time is signed, so the receiver can refuse old messages. */
function signatureOf(secret: string, seconds: number, body: string): string {
  const v1 = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${v1}`;
}

async function post(url: string, secret: string, message: object, at: Date, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(message);
  const signature = signatureOf(secret, Math.trunc(at.getTime() / 1000), body);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tradepost-signature': signature },
    body,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
  }).catch((error: unknown) => {
    // The message of the error may have the address and the body. Neither may appear in a log.
    throw new Error(`the SMS webhook can not be reached: ${faultKind(error)}`);
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the SMS webhook answered ${response.status}`);
}

/**
 * The job that creates the code of a request, stores its hash and posts it. It is safe to run twice: the second run sends a new
 * code that replaces the first one. A request that is older than the lifetime of a code is dropped.
 */
export function smsCodeSender(runtime: Pick<Runtime, 'sql' | 'settings' | 'now'>): TaskHandler {
  const { sql, settings } = runtime;
  return async (payload, { log, signal }) => {
    const { request_id } = payloadSchema.parse(payload);
    const at = runtime.now();
    const phone = await selectPhoneOfRequest(sql, request_id);
    const { code, stored } = newCode(phone ?? '', at);
    const url = settings.get(smsWebhookUrl);
    const secret = settings.get(smsWebhookSecret);
    if (settings.get(smsProvider) !== 'webhook' || !url || !secret) throw new Error('the SMS webhook is not set up');
    if (!phone || !(await updateWaitingCode(sql, request_id, new Date(at.getTime() - codeLifeMs), stored)))
      return log.info('a login code was not sent, because its request was replaced, used or is too old');
    await post(url, secret, { id: request_id, phone, code, expires_at: stored.expires_at.toISOString() }, at, signal);
  };
}
