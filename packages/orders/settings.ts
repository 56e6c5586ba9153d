import { type Setting, setting } from '@tradepost/runtime';
import { z } from 'zod';
import type { PaymentProviderEntry } from './payments/providers/provider.ts';
import { sandboxName } from './payments/providers/sandbox/settings.ts';
import { orderRetentionSettings } from './retention.ts';

export const unpaidMinutes = setting(
  'orders.unpaid_minutes',
  z
    .number()
    .int()
    .min(1)
    .max(7 * 24 * 60),
  15,
  'minutes after which an unpaid order is cancelled and its stock is released',
);

/**
 * The key with which the setting pay.provider is read. Its values depend on the modules that run, so the registered
 * definition comes from `payProviderSetting`.
 */
export const payProvider = setting(
  'pay.provider',
  z.string(),
  sandboxName,
  'payment provider of POST /api/pay/create when the request names no provider',
);

const namesOf = (providers: readonly PaymentProviderEntry[]) => providers.map(({ name }) => name);

/**
 * The setting pay.provider. `providers` are those of the modules that run. The names of the other `known` ones stay valid: the
 * default would send the money of the shop to another provider. Payments are refused then.
 */
export function payProviderSetting(
  providers: readonly PaymentProviderEntry[],
  known: readonly PaymentProviderEntry[],
): Setting<string> {
  const listed = new Intl.ListFormat('en', { type: 'disjunction' }).format(namesOf(providers));
  return { ...payProvider, schema: z.enum(namesOf(known)), about: `${payProvider.about}: ${listed}` };
}

export const payCurrency = setting(
  'pay.currency',
  z.string().regex(/^[A-Z]{3}$/, { error: 'must be an ISO 4217 code such as CNY' }),
  'CNY',
  'currency of all amounts; it is sent to payment providers, and their notices must have it',
);
export const refundAttempts = setting(
  'pay.refund_attempts',
  z.number().int().min(1).max(25),
  10,
  'number of attempts before a refund counts as failed',
);

export const remindMinutes = setting(
  'orders.remind_minutes',
  z
    .number()
    .int()
    .min(0)
    .max(7 * 24 * 60),
  10,
  'minutes between two reminders of one order on one channel; 0 is no limit',
);

export const autoCompleteDays = setting(
  'orders.auto_complete_days',
  z.number().int().min(0).max(365),
  15,
  'days after its shipment when an order is completed without a review of every line; 0 is never',
);

export const orderSettings = [
  unpaidMinutes,
  autoCompleteDays,
  remindMinutes,
  payCurrency,
  refundAttempts,
  ...orderRetentionSettings,
] as const;
