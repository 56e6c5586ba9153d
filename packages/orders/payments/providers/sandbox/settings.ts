import { isHttpAddress, setting } from '@tradepost/runtime';
import { z } from 'zod';

export const sandboxName = 'sandbox';

const httpUrl = z
  .string()
  .max(500)
  .refine((text) => text === '' || isHttpAddress(text), {
    error: 'must be an http or https address without user and password, or empty',
  });

export const sandboxSecret = setting(
  'pay.sandbox.secret',
  z
    .string()
    .max(200)
    .refine((text) => text === '' || text.length >= 16, { error: 'must have at least 16 characters' }),
  '',
  'key that signs the messages of the payment provider sandbox; without a key the provider is refused',
  { secret: true },
);
export const signatureSeconds = setting(
  'pay.sandbox.signature_ttl',
  z.number().int().min(10).max(3600),
  300,
  'seconds by which the timestamp of a payment notice may differ from the clock of the shop, in either direction',
);
export const sandboxCashierUrl = setting(
  'pay.sandbox.cashier_url',
  httpUrl,
  '',
  'page to which the shopper is sent to pay, with ?payment_no=; empty: the development page, not in production',
);
export const sandboxRefundUrl = setting(
  'pay.sandbox.refund_url',
  httpUrl,
  '',
  'endpoint that makes refunds; empty: the sandbox reports each refund as succeeded, not in production',
);

export const sandboxSettings = [sandboxSecret, signatureSeconds, sandboxCashierUrl, sandboxRefundUrl] as const;
