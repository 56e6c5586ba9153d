import type { Localized } from '@tradepost/core';
import { isHttpAddress } from '@tradepost/runtime';
import { z } from 'zod';

/** Values that the settings of several payment services have, and the texts that refuse others. */
export const optionalAddressRule: Localized = {
  en: 'must be an http or https address, or empty',
  'zh-CN': '须为 http(s) 地址或留空',
};
export const optionalAddress = (): z.ZodType<string> =>
  z
    .string()
    .max(255)
    .refine((text) => text === '' || isHttpAddress(text), { error: optionalAddressRule.en });

export const rsaKeyRule: Localized = {
  en: 'must be an RSA key as PEM or base64',
  'zh-CN': '须为 PEM 或 Base64 格式的 RSA 密钥',
};
/** The text of an RSA key, or empty. `read` returns null for any other text. */
export const rsaKeyText = (read: (text: string) => unknown): z.ZodType<string> =>
  z
    .string()
    .max(8_000)
    .refine((text) => text === '' || read(text) !== null, { error: rsaKeyRule.en });
