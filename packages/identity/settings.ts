import { type ConfigPage, isHttpAddress, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { messageSettings } from './messages/message-settings.ts';
import { identityRetentionSettings } from './retention.ts';

const httpUrl = z
  .string()
  .max(500)
  .refine(isHttpAddress, { error: 'must be an http(s) URL without user and password' });
const count = z.number().int().min(0).max(1_000_000);
const offNote = '0 is no limit';

export const smsResendSeconds = setting(
  'sms.resend_seconds',
  z.number().int().min(0).max(3_600),
  60,
  'seconds between two codes for one phone',
);
export const smsPerPhoneHour = setting(
  'sms.per_phone_hour',
  count,
  5,
  `largest number of codes for one phone in an hour; ${offNote}`,
);
export const smsPerPhoneDay = setting(
  'sms.per_phone_day',
  count,
  10,
  `largest number of codes for one phone in a day; ${offNote}`,
);
export const smsPerAddressHour = setting(
  'sms.per_address_hour',
  count,
  60,
  `largest number of code requests from one client address in an hour; ${offNote}`,
);
export const loginPerAccount = setting(
  'login.failures_per_account',
  count,
  10,
  `largest number of failed logins of one account in login.window_minutes; ${offNote}`,
);
export const loginPerAddress = setting(
  'login.failures_per_address',
  count,
  50,
  `largest number of failed logins from one client address in login.window_minutes; ${offNote}`,
);
export const loginWindowMinutes = setting(
  'login.window_minutes',
  z
    .number()
    .int()
    .min(1)
    .max(24 * 60),
  15,
  'minutes of the window in which failed logins are counted',
);
const wechatPage: ConfigPage = {
  plugin: 'wechat_auth',
  title: { en: 'WeChat login', 'zh-CN': '微信登录' },
  sort: 60,
};

export const wechatMiniAppId = setting(
  'wechat_auth.mini_app_id',
  z.string().max(128),
  '',
  'app id of the WeChat mini program; without it this login is off',
  { field: { page: wechatPage, label: { en: 'Mini program app id', 'zh-CN': '小程序 AppID' } } },
);
export const wechatMiniAppSecret = setting(
  'wechat_auth.mini_app_secret',
  z.string().max(256),
  '',
  'app secret of the WeChat mini program',
  { secret: true, field: { page: wechatPage, label: { en: 'Mini program app secret', 'zh-CN': '小程序 AppSecret' } } },
);
/** Kept for clients that set it. No login of the shop uses it. */
const wechatH5AppId = setting(
  'wechat_auth.h5_app_id',
  z.string().max(128),
  '',
  'app id of the WeChat official account; stored for clients, no login uses it',
  { field: { page: wechatPage, label: { en: 'Official account app id', 'zh-CN': '公众号 AppID' } } },
);
const wechatH5AppSecret = setting(
  'wechat_auth.h5_app_secret',
  z.string().max(256),
  '',
  'app secret of the WeChat official account; stored for clients, no login uses it',
  {
    secret: true,
    field: { page: wechatPage, label: { en: 'Official account app secret', 'zh-CN': '公众号 AppSecret' } },
  },
);
export const wechatEndpoint = setting(
  'wechat_auth.endpoint',
  httpUrl,
  'https://api.weixin.qq.com/sns/jscode2session',
  'address that returns the open id for the code of a mini-program login',
);

export const identitySettings = [
  ...messageSettings,
  smsResendSeconds,
  smsPerPhoneHour,
  smsPerPhoneDay,
  smsPerAddressHour,
  loginPerAccount,
  loginPerAddress,
  loginWindowMinutes,
  wechatMiniAppId,
  wechatMiniAppSecret,
  wechatH5AppId,
  wechatH5AppSecret,
  wechatEndpoint,
  ...identityRetentionSettings,
] as const;
