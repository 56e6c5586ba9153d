import { type Setting, setting } from '@tradepost/runtime';
import { z } from 'zod';

/** The settings of a bucket. Empty means not set. */

export const plain = (key: string, about: string): Setting<string> =>
  setting(key, z.string().trim().max(500).regex(/^\S*$/, { error: 'must not contain blanks' }), '', about);

export const secretKey = (key: string, about: string): Setting<string> =>
  setting(key, z.string().trim().max(500), '', about, { secret: true });

const isHttp = (value: string) =>
  value === '' || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && !/[\s"'<>\\?#]/.test(value));

/** An address. Where the scheme is missing, https is meant. */
export const address = (key: string, about: string): Setting<string> =>
  setting(
    key,
    z
      .string()
      .trim()
      .max(500)
      .refine((value) => isHttp(value) || isHttp(`https://${value}`), {
        error: 'must be a host or an http(s) address',
      }),
    '',
    about,
  );

/** The address with its scheme and without a slash at its end. */
export const urlOf = (value: string): string =>
  (value.includes('://') ? value : `https://${value}`).replace(/\/+$/, '');
