import { isWholeCents, maxMinor, toWire } from '@tradepost/core';
import { amount, amountInput, id, requiredText, text, timestamp } from '@tradepost/http';
import { z } from 'zod';
import { paymentStatuses } from './payment-rules.ts';

const paymentNo = () => requiredText(64).meta({ examples: ['PAY17723586000000123456789'] });
const webAddress = () =>
  text(500)
    .refine((url) => url === '' || (URL.canParse(url) && /^https?:\/\//i.test(url)), {
      error: 'must be an http or https address',
    })
    .meta({ examples: ['http://127.0.0.1:8080/orders'] });
/** An amount that is too large has a refusal of its own. */
const isTooLargeOrWholeCents = (value: number) => value > toWire(maxMinor) || isWholeCents(value);

/** `providers`: the names of all providers. */
export const payCreateBody = (providers: readonly string[]) =>
  z.object({
    order_id: id(),
    provider: z.enum(providers).optional().meta({
      description:
        'default: the provider of the payment_method of the order, if it is set up; else the setting pay.provider',
    }),
    channel: text(20)
      .optional()
      .meta({
        description: 'the way to pay at the provider, such as jsapi; default: its first one',
        examples: ['native'],
      }),
    params: z
      .record(z.string().max(32), text(200))
      .refine((params) => Object.keys(params).length <= 10, { error: 'must have at most 10 entries' })
      .default({})
      .meta({
        description: 'what the channel needs of the client, such as openid',
        maxProperties: 10,
        examples: [{ openid: 'oUpF8uMuAJO_M2pxb1Q9zNjWeS6o' }],
      }),
    return_url: webAddress()
      .default('')
      .meta({
        description: 'address to which the cashier sends the shopper afterwards',
        examples: ['http://127.0.0.1:8080/orders'],
      }),
  });

export const payStatusQuery = z
  .object({
    payment_no: text(64)
      .optional()
      .meta({ examples: ['PAY17723586000000123456789'] }),
    order_id: id().optional(),
  })
  .refine((query) => query.payment_no !== undefined || query.order_id !== undefined, {
    error: 'payment_no or order_id is needed',
    path: ['payment_no'],
  });

/** `providers`: the names of all providers. */
export const paymentSchema = (providers: readonly string[]) =>
  z
    .object({
      payment_no: z.string().meta({ examples: ['PAY17723586000000123456789'] }),
      provider: z.enum(providers),
      order_id: id(),
      order_no: z.string().meta({ examples: ['1772358600000000001'] }),
      amount: amount(),
      currency: z.string().meta({ examples: ['CNY'] }),
      status: z.enum(paymentStatuses),
      status_label: z.string().meta({ examples: ['Waiting for payment'] }),
      channel: z
        .string()
        .meta({ description: 'way to pay at the provider; empty where it has one', examples: ['native'] }),
      pay_url: z.string().meta({
        description:
          'address to which the client sends the shopper; empty when the payment is not pending, and where the channel has ' +
          'pay_params instead',
        examples: ['http://127.0.0.1:8080/pay/sandbox/PAY17723586000000123456789'],
      }),
      pay_params: z.record(z.string(), z.string()).meta({
        description: 'parameters for the SDK of the provider, or code_url as the text of a QR code',
        examples: [{ code_url: 'weixin://wxpay/bizpayurl?pr=p4lpSuKzz' }],
      }),
      prepay_id: z.string().meta({
        description: 'number of the opened payment at the provider; empty when it has none',
        examples: ['wx201410272009395522657a690389285100'],
      }),
      expires_at: timestamp().meta({ description: 'when the order expires, and the payment with it' }),
      paid_at: timestamp().nullable(),
      refunded_at: timestamp().nullable(),
      created_at: timestamp(),
      order_status: z
        .int()
        .min(1)
        .max(6)
        .meta({ examples: [1] }),
      order_status_label: z.string().meta({ examples: ['Pending Payment'] }),
    })
    .meta({ id: 'Payment' });

/** `providers`: the names of the providers that send notices. */
export const payCallbackBody = (providers: readonly string[]) =>
  z
    .object({
      provider: z.enum(providers),
      payment_no: paymentNo(),
      trade_no: text(128)
        .trim()
        .default('')
        .meta({
          description: 'the number that the provider gave to the transaction; required when the payment succeeded',
          examples: ['SBX20260301000001'],
        }),
      amount: amountInput().refine(isTooLargeOrWholeCents, { error: 'must have at most two decimals' }),
      currency: z
        .string()
        .max(3)
        .regex(/^[A-Z]{3}$/)
        .meta({ examples: ['CNY'] }),
      status: z.enum(['succeeded', 'failed']),
      paid_at: z.iso
        .datetime({ offset: true })
        .max(40)
        .optional()
        .meta({ examples: ['2026-03-01T09:30:00+08:00'] }),
    })
    .refine((notice) => notice.status === 'failed' || notice.trade_no !== '', {
      error: 'trade_no is needed for a payment that succeeded',
      path: ['trade_no'],
    });

export const payCallbackAnswer = z.object({
  received: z.literal(true),
  payment_no: z.string().meta({ examples: ['PAY17723586000000123456789'] }),
  status: z.enum(paymentStatuses).meta({
    description: 'status of the payment; refunding: the order did not need the money, it is refunded',
    examples: ['succeeded'],
  }),
});

export const cashierParams = z.object({ payment_no: paymentNo() });
export const cashierBody = z.object({ status: z.enum(['succeeded', 'failed']).default('succeeded') });
