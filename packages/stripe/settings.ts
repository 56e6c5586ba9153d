import { type ConfigPage, isHttpAddress, setting } from '@tradepost/runtime';
import { z } from 'zod';

const page: ConfigPage = { plugin: 'stripe', title: { en: 'Stripe', 'zh-CN': 'Stripe 支付' }, sort: 43 };

const keyRule = { en: 'must begin with sk_ or rk_', 'zh-CN': '须以 sk_ 或 rk_ 开头' };
export const secretKey = setting(
  'stripe.secret_key',
  z
    .string()
    .trim()
    .max(255)
    .regex(/^$|^(sk|rk)_\w{8,}$/, { error: keyRule.en }),
  '',
  'secret key of the account at Stripe, or a restricted key for Checkout Sessions, PaymentIntents and Refunds',
  {
    secret: true,
    field: { page, label: { en: 'Secret key', 'zh-CN': '密钥' }, sort: 1, required: true, rule: keyRule },
  },
);
const webhookRule = { en: 'must begin with whsec_', 'zh-CN': '须以 whsec_ 开头' };
export const webhookSecret = setting(
  'stripe.webhook_secret',
  z
    .string()
    .trim()
    .max(255)
    .regex(/^$|^whsec_\S{8,}$/, { error: webhookRule.en }),
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
