import { setting } from '@tradepost/runtime';
import { z } from 'zod';
import { paymentProviderNames } from './payments/providers/provider.ts';
import { orderRetentionSettings } from './retention.ts';

export const unpaidMinutes = setting(
  'orders.unpaid_minutes',
  z
    .number()
    .int()
    .min(1)
    .max(7 * 24 * 60),
  15,
  'minutes after which an unpaid order is cancelled and its stock is free again',
);

const httpUrl = z
  .string()
  .max(500)
  .refine((text) => text === '' || (URL.canParse(text) && /^https?:/i.test(text)), {
    error: 'must be an http or https address, or empty',
  });

export const payProvider = setting(
  'pay.provider',
  z.enum(paymentProviderNames),
  'sandbox',
  'provider of POST /api/pay/create when the request names none: sandbox or instant',
);
export const instantPay = setting(
  'pay.instant',
  z.boolean().nullable(),
  null,
  'whether a shopper settles an order at once, without money; null: only in a shop that the demo seed filled, never in production',
);
export const payCurrency = setting(
  'pay.currency',
  z.string().regex(/^[A-Z]{3}$/, { error: 'must be an ISO 4217 code such as CNY' }),
  'CNY',
  'currency of all amounts, as told to and expected from payment providers',
);
export const sandboxSecret = setting(
  'pay.sandbox.secret',
  z
    .string()
    .max(200)
    .refine((text) => text === '' || text.length >= 16, { error: 'must have at least 16 characters' }),
  '',
  'key that signs messages of the payment provider sandbox; without it the provider is refused',
  { secret: true },
);
export const signatureSeconds = setting(
  'pay.sandbox.signature_ttl',
  z.number().int().min(10).max(3600),
  300,
  'seconds by which the timestamp of a payment notice may differ from our clock, in either direction',
);
export const sandboxCashierUrl = setting(
  'pay.sandbox.cashier_url',
  httpUrl,
  '',
  'page to which the shopper is sent to pay, with ?payment_no=; empty: our own development page, not in production',
);
export const sandboxRefundUrl = setting(
  'pay.sandbox.refund_url',
  httpUrl,
  '',
  'endpoint that pays back; empty: the sandbox says at once that it has, but not in production',
);
export const refundAttempts = setting(
  'pay.refund_attempts',
  z.number().int().min(1).max(25),
  10,
  'how often a provider is asked for one refund before it counts as failed',
);

export const remindMinutes = setting(
  'orders.remind_minutes',
  z
    .number()
    .int()
    .min(0)
    .max(7 * 24 * 60),
  10,
  'minutes in which a buyer is reminded of an unpaid order at most once per channel; 0 = without a limit',
);

export const orderSettings = [
  unpaidMinutes,
  remindMinutes,
  payProvider,
  instantPay,
  payCurrency,
  sandboxSecret,
  signatureSeconds,
  sandboxCashierUrl,
  sandboxRefundUrl,
  refundAttempts,
  ...orderRetentionSettings,
] as const;
