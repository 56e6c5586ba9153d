import { type ConfigPage, isHttpAddress, setting } from '@tradepost/runtime';
import { z } from 'zod';

const page: ConfigPage = { plugin: 'stripe', title: { en: 'Stripe', 'zh-CN': 'Stripe 支付' }, sort: 43 };

const keyRule = {
  en: 'must begin with sk_ or rk_, and have at least 8 letters, digits or _ after that',
  'zh-CN': '须以 sk_ 或 rk_ 开头，其后至少 8 个字母、数字或 _',
};
/** The beginning and the rest are two rules, so that the message names the one that is broken. */
export const secretKey = setting(
  'stripe.secret_key',
  z
    .string()
    .trim()
    .max(255)
    .regex(/^$|^(sk|rk)_/, { error: 'must begin with sk_ or rk_' })
    .regex(/^$|^.{3}\w{8,}$/, {
      error: 'must have at least 8 letters, digits or _ after sk_ or rk_, and nothing else',
    }),
  '',
  'secret key of the account at Stripe, or a restricted key for Checkout Sessions, PaymentIntents and Refunds',
  {
    secret: true,
    field: { page, label: { en: 'Secret key', 'zh-CN': '密钥' }, sort: 1, required: true, rule: keyRule },
  },
);
const webhookRule = {
  en: 'must begin with whsec_, and have at least 8 characters after that',
  'zh-CN': '须以 whsec_ 开头，其后至少 8 个字符',
};
export const webhookSecret = setting(
  'stripe.webhook_secret',
  z
    .string()
    .trim()
    .max(255)
    .regex(/^$|^whsec_/, { error: 'must begin with whsec_' })
    .regex(/^$|^.{6}\S{8,}$/, { error: 'must have at least 8 characters after whsec_, and no blank' }),
  '',
  'signing secret of the webhook endpoint, which verifies notices',
  {
    secret: true,
    field: {
      page,
      label: { en: 'Webhook secret', 'zh-CN': 'Webhook 签名密钥' },
      sort: 2,
      required: true,
      rule: webhookRule,
    },
  },
);
/** Only operators change it: the server there gets the secret key. */
export const apiUrl = setting(
  'stripe.api_url',
  z
    .string()
    .max(255)
    .refine((text) => isHttpAddress(text) && new URL(text).pathname === '/', {
      error: 'must be an http or https address without a path',
    }),
  'https://api.stripe.com',
  'address of Stripe; another one is for tests',
);

export const stripeSettings = [secretKey, webhookSecret, apiUrl] as const;
/** Without these the provider is refused. */
export const requiredSettings = [secretKey, webhookSecret] as const;
