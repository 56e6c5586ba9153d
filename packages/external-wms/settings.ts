import { type ConfigPage, type Settings, setting } from '@tradepost/runtime';
import { z } from 'zod';
import { externalWmsRetentionSettings } from './retention.ts';

/** The name of this provider: the value of inventory.provider that chooses it. */
export const providerName = 'external_wms';

export const externalMode = setting(
  'inventory.external_mode',
  z.preprocess((value) => (value === '' ? 'sync' : value), z.enum(['sync', 'async'])),
  'sync',
  'external_wms: sync reserves at the warehouse before an order is written, async notifies it afterwards; read at start',
);

function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

const page: ConfigPage = {
  plugin: 'external_wms',
  title: { en: 'External warehouse', 'zh-CN': '外部 WMS' },
  sort: 70,
};

export const externalEndpoint = setting(
  'external_wms.endpoint',
  z
    .string()
    .max(500)
    .refine((text) => text === '' || isPlainAddress(text), {
      error: 'must be an http or https address without user, query and fragment',
    })
    .transform((text) => text.replace(/\/+$/, '')),
  '',
  'root address of the external warehouse; the paths of the protocol (/reserve ...) are appended to it',
  {
    field: {
      page,
      label: { en: 'Endpoint', 'zh-CN': '接口地址' },
      rule: {
        en: 'must be an http or https address without user, query and fragment',
        'zh-CN': '须为不含用户名、查询参数和片段的 http(s) 地址',
      },
      serviceAddress: {},
    },
  },
);
export const externalAppKey = setting(
  'external_wms.app_key',
  z
    .string()
    .max(200)
    .regex(/^[\x21-\x7e]*$/, { error: 'must be printable ASCII without blanks' }),
  '',
  'the key that identifies the shop in requests, and the warehouse in callbacks',
  {
    field: {
      page,
      label: { en: 'App key', 'zh-CN': 'App Key' },
      rule: { en: 'must be printable ASCII without blanks', 'zh-CN': '须为不含空格的可见 ASCII 字符' },
    },
  },
);
export const externalAppSecret = setting(
  'external_wms.app_secret',
  // A line feed separates the signed fields.
  z
    .string()
    .max(500)
    .regex(/^[^\r\n]*$/, { error: 'must be one line' }),
  '',
  'secret for the signatures of requests to the external warehouse and of its callbacks',
  {
    secret: true,
    field: {
      page,
      label: { en: 'App secret', 'zh-CN': 'App Secret' },
      rule: { en: 'must be one line', 'zh-CN': '须为一行文本' },
    },
  },
);
/** The command that sets the setting. The command reads a secret from standard input or prompts for it. */
export const settingCommand = (key: string): string =>
  `tradepost settings set ${key}${key === externalAppSecret.key ? '' : ' <value>'}`;

/** The settings that a call of the external warehouse needs and that are not set. */
export const missingSettings = (settings: Pick<Settings, 'get'>): string[] =>
  [externalEndpoint, externalAppKey, externalAppSecret].filter((one) => settings.get(one) === '').map(({ key }) => key);

export const externalTimeoutMs = setting(
  'external_wms.timeout_ms',
  z.number().int().min(50).max(60_000),
  3_000,
  'milliseconds that a call to the external warehouse may take',
);
export const callbackEnabled = setting(
  'external_wms.callback_enabled',
  z.boolean(),
  true,
  'async: whether code 0 means accepted, and a callback reports the result later',
);
export const signatureTtl = setting(
  'external_wms.signature_ttl',
  z.number().int().min(10).max(86_400),
  300,
  'seconds by which the timestamp of a callback may differ from the clock of the shop, in either direction',
);
export const callbackDeadline = setting(
  'external_wms.callback_deadline_sec',
  z.number().int().min(1).max(86_400),
  120,
  'seconds after which an accepted task without its callback is delivered again',
);
export const workerInterval = setting(
  'external_wms.worker_interval_sec',
  z.number().int().min(1).max(3_600),
  5,
  'seconds between two polls of the worker for tasks that are due',
);
export const maxAttempts = setting(
  'external_wms.retry.max_attempts',
  z.number().int().min(1).max(1_000),
  8,
  'attempts to deliver a task before it is failed',
);
export const backoffSeconds = setting(
  'external_wms.retry.backoff_seconds',
  z.number().int().min(0).max(86_400),
  30,
  'seconds between two attempts of a task',
);

export const externalWmsSettings = [
  externalMode,
  externalEndpoint,
  externalAppKey,
  externalAppSecret,
  externalTimeoutMs,
  callbackEnabled,
  signatureTtl,
  callbackDeadline,
  workerInterval,
  maxAttempts,
  backoffSeconds,
  ...externalWmsRetentionSettings,
] as const;
