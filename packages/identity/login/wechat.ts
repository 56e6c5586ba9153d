import type { Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { identityErrors } from '../errors.ts';
import { wechatEndpoint, wechatMiniAppId, wechatMiniAppSecret } from '../settings.ts';
import { faultKind } from './fault-kind.ts';

const deadlineMs = 5_000;
const answerSchema = z.object({
  openid: z.string().min(1).max(128).optional(),
  errcode: z.number().optional(),
});

/** Gets the open id of a code from WeChat (jscode2session). Throws a refusal when WeChat returns no open id. */
export async function openIdOf({ settings, log }: Pick<Runtime, 'settings' | 'log'>, code: string): Promise<string> {
  const appid = settings.get(wechatMiniAppId);
  const secret = settings.get(wechatMiniAppSecret);
  if (!appid || !secret) throw identityErrors.wechat_off();
  const url = new URL(settings.get(wechatEndpoint));
  const query = { appid, secret, js_code: code, grant_type: 'authorization_code' };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  // The address contains the secret, so only the kind of a failure is logged.
  const refuse = (reason: object) => {
    log.warn(reason, 'WeChat login failed');
    return identityErrors.wechat_failed();
  };
  let answer: unknown;
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(deadlineMs) });
    // WeChat sends JSON with the type text/plain.
    answer = JSON.parse(await response.text());
  } catch (error) {
    throw refuse({ kind: faultKind(error) });
  }
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) throw refuse({ kind: 'unknown answer' });
  if (!parsed.data.openid || parsed.data.errcode) throw refuse({ errcode: parsed.data.errcode ?? 0 });
  return parsed.data.openid;
}
