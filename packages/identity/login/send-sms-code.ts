import type { Runtime, TaskHandler } from '@tradepost/runtime';
import { z } from 'zod';
import { failureText, isPermanent, type Messenger, notReadyText } from '../messages/messenger.ts';
import { loginCodeNotice } from '../messages/notices.ts';
import { codeLifeMs, newCode } from './sms-codes.ts';
import { selectPhoneOfRequest, updateWaitingCode } from './sms-store.ts';

const payloadSchema = z.object({ request_id: z.uuid() });

/**
 * The job that creates the code of a request, stores its hash and sends it. It is safe to run twice: the second run sends a new
 * code that replaces the first one. A request that is older than the lifetime of a code is dropped.
 */
export function smsCodeSender(runtime: Pick<Runtime, 'sql' | 'now'>, messenger: Messenger): TaskHandler {
  const { sql } = runtime;
  const notice = loginCodeNotice.name;
  return async (payload, { log, signal }) => {
    const { request_id } = payloadSchema.parse(payload);
    const at = runtime.now();
    const phone = await selectPhoneOfRequest(sql, request_id);
    const { code, stored } = newCode(phone ?? '', at);
    const notReady = messenger.notReady('sms', notice);
    if (notReady) throw new Error(notReadyText('sms', notReady));
    if (!phone || !(await updateWaitingCode(sql, request_id, new Date(at.getTime() - codeLifeMs), stored)))
      return log.info('a login code was not sent, because its request was replaced, used or is too old');
    const message = { id: request_id, notice, phone, params: { code }, expires_at: stored.expires_at.toISOString() };
    try {
      await messenger.send('sms', message, signal);
    } catch (error) {
      // The shopper asks for another code. A further attempt would be refused too.
      if (isPermanent(error)) return log.warn({ reason: failureText(error) }, 'a login code was refused');
      throw new Error(failureText(error));
    }
  };
}
