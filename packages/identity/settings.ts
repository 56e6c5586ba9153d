import { setting } from '@tradepost/runtime';
import { z } from 'zod';

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' });
const count = z.number().int().min(0).max(1_000_000);
const offNote = '0 is no limit';

export const smsProvider = setting(
  'sms.provider',
  z.enum(['test', 'webhook', 'off']),
  'test',
  'who sends login codes: test answers them as dev_code (not in production), webhook posts them to sms.webhook_url, off sends none',
);
export const smsWebhookUrl = setting(
  'sms.webhook_url',
  z.union([z.literal(''), httpUrl]),
  '',
  'takes a POST of {id, phone, code, expires_at} and sends the message',
);
export const smsWebhookSecret = setting(
  'sms.webhook_secret',
  z.string().max(256),
  '',
  'key of the HMAC-SHA256 in X-Tradepost-Signature',
  { secret: true },
);
export const smsResendSeconds = setting(
  'sms.resend_seconds',
  z.number().int().min(0).max(3_600),
  60,
  'a phone gets its next code after so many seconds',
);
export const smsPerPhoneHour = setting('sms.per_phone_hour', count, 5, `codes for one phone in an hour; ${offNote}`);
export const smsPerPhoneDay = setting('sms.per_phone_day', count, 10, `codes for one phone in a day; ${offNote}`);
export const smsPerAddressHour = setting(
  'sms.per_address_hour',
  count,
  60,
  `codes one client address may ask for in an hour; ${offNote}`,
);
export const loginPerAccount = setting(
  'login.failures_per_account',
  count,
  10,
  `failed logins of one account in login.window_minutes; ${offNote}`,
);
export const loginPerAddress = setting(
  'login.failures_per_address',
  count,
  50,
  `failed logins from one client address in login.window_minutes; ${offNote}`,
);
export const loginWindowMinutes = setting(
  'login.window_minutes',
  z
    .number()
    .int()
    .min(1)
    .max(24 * 60),
  15,
  'window in which failed logins are counted',
);
export const wechatMiniAppId = setting(
  'wechat_auth.mini_app_id',
  z.string().max(128),
  '',
  'app id of the WeChat mini program; without it its login is off',
);
export const wechatMiniAppSecret = setting(
  'wechat_auth.mini_app_secret',
  z.string().max(256),
  '',
  'app secret of the WeChat mini program',
  { secret: true },
);
export const wechatEndpoint = setting(
  'wechat_auth.endpoint',
  httpUrl,
  'https://api.weixin.qq.com/sns/jscode2session',
  'where the code of a mini-program login is turned into an open id',
);

export const identitySettings = [
  smsProvider,
  smsWebhookUrl,
  smsWebhookSecret,
  smsResendSeconds,
  smsPerPhoneHour,
  smsPerPhoneDay,
  smsPerAddressHour,
  loginPerAccount,
  loginPerAddress,
  loginWindowMinutes,
  wechatMiniAppId,
  wechatMiniAppSecret,
  wechatEndpoint,
] as const;
