import { type Setting, type SettingField, setting } from '@tradepost/runtime';
import { z } from 'zod';

/** The settings of a bucket. Empty means not set. */

export const plain = (key: string, about: string, field: SettingField): Setting<string> =>
  setting(key, z.string().trim().max(500).regex(/^\S*$/, { error: 'must not contain blanks' }), '', about, {
    field: { rule: { en: 'must not contain blanks', 'zh-CN': '不能包含空格' }, ...field },
  });

export const secretKey = (key: string, about: string, field: SettingField): Setting<string> =>
  setting(key, z.string().trim().max(500), '', about, { secret: true, field });

const isHttp = (value: string) =>
  value === '' || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && !/[\s"'<>\\?#]/.test(value));

/** An address. Where the scheme is missing, https is meant. */
const addressRule = { en: 'must be a host or an http(s) address', 'zh-CN': '须为主机名或 http(s) 地址' };

export const address = (key: string, about: string, field?: SettingField): Setting<string> =>
  setting(
    key,
    z
      .string()
      .trim()
      .max(500)
      .refine((value) => isHttp(value) || isHttp(`https://${value}`), {
        error: addressRule.en,
      }),
    '',
    about,
    field ? { field: { rule: addressRule, ...field } } : {},
  );

/** The address with its scheme and without a slash at its end. */
export const urlOf = (value: string): string =>
  (value.includes('://') ? value : `https://${value}`).replace(/\/+$/, '');
