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

/** Asks WeChat whose code this is (jscode2session). Refuses when it does not say. */
export async function openIdOf({ settings, log }: Pick<Runtime, 'settings' | 'log'>, code: string): Promise<string> {
  const appid = settings.get(wechatMiniAppId);
  const secret = settings.get(wechatMiniAppSecret);
  if (!appid || !secret) throw identityErrors.wechat_off();
  const url = new URL(settings.get(wechatEndpoint));
  const query = { appid, secret, js_code: code, grant_type: 'authorization_code' };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  // The address holds the secret: of a failure only its kind is logged.
  const refuse = (why: object) => {
    log.warn(why, 'WeChat login failed');
    return identityErrors.wechat_failed();
  };
  let answer: unknown;
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(deadlineMs) });
    // Text first: WeChat sends its JSON as text/plain.
    answer = JSON.parse(await response.text());
  } catch (error) {
    throw refuse({ kind: faultKind(error) });
  }
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) throw refuse({ kind: 'unknown answer' });
  if (!parsed.data.openid || parsed.data.errcode) throw refuse({ errcode: parsed.data.errcode ?? 0 });
  return parsed.data.openid;
}
