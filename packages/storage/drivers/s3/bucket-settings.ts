import { isHttpAddress, type Setting, type SettingField, setting } from '@tradepost/runtime';
import { z } from 'zod';

/** The settings of a bucket. Empty means not set. */

export const plain = (key: string, about: string, field: SettingField): Setting<string> =>
  setting(key, z.string().trim().max(500).regex(/^\S*$/, { error: 'must not contain blanks' }), '', about, {
    field: { rule: { en: 'must not contain blanks', 'zh-CN': '不能包含空格' }, ...field },
  });

const nameRule = { en: 'must consist of letters, digits, dots, - and _', 'zh-CN': '只能包含字母、数字、点、- 和 _' };

/** A part of a host name. Other characters could make it a different host. */
export const hostPart = (key: string, about: string, field: SettingField): Setting<string> =>
  setting(
    key,
    z
      .string()
      .trim()
      .max(200)
      .regex(/^[\w.-]*$/, { error: nameRule.en }),
    '',
    about,
    {
      field: { rule: nameRule, ...field },
    },
  );

export const secretKey = (key: string, about: string, field: SettingField): Setting<string> =>
  setting(key, z.string().trim().max(500), '', about, { secret: true, field });

/** The address with its scheme and without a slash at its end. */
export const urlOf = (value: string): string =>
  (value.includes('://') ? value : `https://${value}`).replace(/\/+$/, '');

const isHttp = (value: string) => isHttpAddress(value) && !/[\s"'<>\\?#@]/.test(value);

/** An address. Where the scheme is missing, https is meant. */
const addressRule = {
  en: 'must be a host or an http(s) address, without user and password',
  'zh-CN': '须为主机名或 http(s) 地址，不含用户名和密码',
};

export const address = (key: string, about: string, field?: SettingField): Setting<string> =>
  setting(
    key,
    z
      .string()
      .trim()
      .max(500)
      .refine((value) => value === '' || isHttp(urlOf(value)), { error: addressRule.en }),
    '',
    about,
    field ? { field: { rule: addressRule, ...field } } : {},
  );
