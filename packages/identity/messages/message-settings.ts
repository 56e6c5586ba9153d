import { type ConfigPage, isHttpAddress, type Setting, type Settings, setting } from '@tradepost/runtime';
import { z } from 'zod';
import type { ShopperNotice } from './notices.ts';
import type { MessageSender } from './sender.ts';

const httpUrl = z
  .string()
  .max(500)
  .refine(isHttpAddress, { error: 'must be an http(s) URL without user and password' });
const page: ConfigPage = { plugin: 'sms', title: { en: 'SMS', 'zh-CN': '短信' }, sort: 50 };
const headerRule = { en: 'must be printable ASCII without blanks', 'zh-CN': '须为不含空格的可见 ASCII 字符' };
/** Keys of SMS services are parts of headers. */
const headerText = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\x21-\x7e]*$/, { error: headerRule.en });
/** An id of digits may come as a number, from JSON. */
const idText = (max: number) => z.preprocess((id) => (typeof id === 'number' ? String(id) : id), headerText(max));

/**
 * The key with which the setting sms.provider is read. Its values depend on the modules that run, so the registered definition
 * comes from `smsProviderSetting`.
 */
export const smsProvider = setting(
  'sms.provider',
  z.string(),
  'test',
  'how messages are sent to phones: test returns login codes as dev_code and writes other messages to the log (not in ' +
    'production), log writes all of them to the log (not in production), webhook posts them to sms.webhook_url, aliyun and ' +
    'tencent are SMS services, off sends nothing',
  {
    notInProduction: {
      values: ['test', 'log'],
      text: 'test and log are for development: with NODE_ENV=production no code would be sent; webhook, aliyun, tencent or off',
    },
    field: {
      page,
      label: { en: 'Provider', 'zh-CN': '服务商' },
      sort: 10,
      choiceLabels: {
        off: { en: 'Off', 'zh-CN': '关闭' },
        test: { en: 'Test', 'zh-CN': '测试' },
        log: { en: 'Log', 'zh-CN': '日志' },
        webhook: { en: 'Webhook', 'zh-CN': 'Webhook' },
        aliyun: { en: 'Aliyun', 'zh-CN': '阿里云' },
        tencent: { en: 'Tencent Cloud', 'zh-CN': '腾讯云' },
      },
      required: true,
    },
  },
);

/** The setting sms.provider, with `off` and the names of these senders as its values. */
function smsProviderSetting(senders: readonly MessageSender[]): Setting<string> {
  const names = senders.filter(({ channel }) => channel === 'sms').map(({ name }) => name);
  const choices = [...names, 'off'];
  return { ...smsProvider, schema: z.enum(choices), field: { ...smsProvider.field!, choices } };
}

export const smsWebhookUrl = setting(
  'sms.webhook_url',
  z.union([z.literal(''), httpUrl]),
  '',
  'address that gets a POST of {id, phone, code, expires_at} for a login code, of {id, kind, phone, params, text} for another ' +
    'message, and sends it',
);
export const smsWebhookSecret = setting(
  'sms.webhook_secret',
  z.string().max(256),
  '',
  'key of the HMAC-SHA256 in X-Tradepost-Signature',
  { secret: true },
);
export const smsAccessKey = setting(
  'sms.access_key',
  headerText(128),
  '',
  'id of the access key of the SMS service: AccessKey ID of aliyun, SecretId of tencent',
  { field: { page, label: { en: 'Access key', 'zh-CN': 'Access Key' }, rule: headerRule } },
);
export const smsSecretKey = setting(
  'sms.secret_key',
  headerText(256),
  '',
  'secret of the access key of the SMS service',
  { secret: true, field: { page, label: { en: 'Secret key', 'zh-CN': 'Secret Key' }, rule: headerRule } },
);
export const smsSignName = setting(
  'sms.sign_name',
  z.string().trim().max(64),
  '',
  'signature of the shop in its messages, as approved by the SMS service',
  { field: { page, label: { en: 'Signature', 'zh-CN': '短信签名' } } },
);
export const smsAppId = setting('sms.app_id', idText(32), '', 'tencent: SDK app id of the SMS application');
export const smsRegion = setting('sms.region', headerText(32).min(1), 'ap-guangzhou', 'tencent: region of the API');

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && `${username}${password}${search}${hash}` === '';
}
export const smsEndpoint = setting(
  'sms.endpoint',
  z
    .string()
    .max(300)
    .refine((text) => text === '' || isOrigin(text), { error: 'must be an http(s) address without a path' })
    .transform((text) => text.replace(/\/+$/, '')),
  '',
  'address of the SMS service; empty for the public address of the provider',
);

/** Most notices that a shop can switch on, and most templates. */
const maxNotices = 50;

/** Names of notices of modules that are switched off are allowed, so that the other templates stay valid. */
export const smsTemplates = setting(
  'sms.templates',
  z
    .record(z.string().regex(/^[a-z_]{1,64}$/, { error: 'must have names of notices as keys' }), idText(64))
    .refine((templates) => Object.keys(templates).length <= maxNotices, { error: `at most ${maxNotices} templates` }),
  {},
  'ids of the templates at the SMS service by notice, as JSON: {"login_code": "SMS_1000"}',
);
/** The template of a notice. Empty when none is set. */
export const smsTemplateOf = (settings: Pick<Settings, 'get'>, notice: string): string =>
  settings.get(smsTemplates)[notice] ?? '';

/** The settings without a value, of these settings and the template of the notice. */
export const missingForSms = (
  settings: Pick<Settings, 'get'>,
  needed: readonly Setting<string>[],
  notice: string,
): string[] => [
  ...needed.filter((one) => settings.get(one) === '').map(({ key }) => key),
  ...(smsTemplateOf(settings, notice) === '' ? [`${notice} in ${smsTemplates.key}`] : []),
];

/** The key with which notices.enabled is read. The registered definition comes from `enabledNoticesSetting`. */
export const enabledNotices = setting(
  'notices.enabled',
  z.array(z.string()).max(maxNotices),
  [],
  'messages to shoppers that are switched on, as a JSON list; each SMS has a price',
);

const namesOf = (notices: readonly ShopperNotice[]) => notices.filter(({ always }) => !always).map(({ name }) => name);

/**
 * The setting notices.enabled. `notices` are those of the modules that run. The names of the other `known` ones are accepted too,
 * so that a module can be switched off and on again; they are not sent.
 */
function enabledNoticesSetting(notices: readonly ShopperNotice[], known: readonly ShopperNotice[]): Setting<string[]> {
  const names = namesOf(known);
  const error = { error: `must be a list of: ${names.join(', ') || 'no module has notices'}` };
  return {
    ...enabledNotices,
    schema: z
      .array(z.string(), error)
      .max(maxNotices)
      .refine((list) => list.every((name) => names.includes(name)), error),
    about: `${enabledNotices.about}: ${namesOf(notices).join(', ')}`,
  };
}

export const noticesPerPhoneDay = setting(
  'notices.per_phone_day',
  z.number().int().min(0).max(10_000),
  20,
  'largest number of notices to one phone in 24 hours; further ones are skipped; 0 is no limit',
);

export const messageSettings = [
  smsWebhookUrl,
  smsWebhookSecret,
  smsAccessKey,
  smsSecretKey,
  smsSignName,
  smsAppId,
  smsRegion,
  smsEndpoint,
  smsTemplates,
  noticesPerPhoneDay,
] as const;

/** The settings that depend on the senders and notices of the modules that run, and on the notices of all modules. */
export const dependentMessageSettings = (
  senders: readonly MessageSender[],
  notices: readonly ShopperNotice[],
  known: readonly ShopperNotice[] = notices,
): Setting[] => [smsProviderSetting(senders), enabledNoticesSetting(notices, known)];
