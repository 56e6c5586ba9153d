import { AppError, type Locale } from '@tradepost/core';
import { enqueueJobs, type Runtime, shopLocale } from '@tradepost/runtime';
import { orderErrors } from '../../errors.ts';
import { type StoredAction, usableAction } from '../payment-rules.ts';
import { setPayActions } from '../payment-store.ts';
import type { PaymentProviders } from '../providers/open-providers.ts';
import { checkJob } from './check-payment.ts';
import type { PaymentAtProvider } from './provider-call-store.ts';

type Deps = { runtime: Pick<Runtime, 'sql' | 'now' | 'log' | 'settings'>; providers: PaymentProviders };
/** What the request adds to the payment. */
export type PayRequest = {
  params: Readonly<Record<string, string>>;
  site: string;
  client_address: string;
};

/** A shopper waits for the answer. */
const beginMs = 10_000;
/** Money whose notice was lost is looked for while it can still pay the order. */
const checkBeforeMs = 60_000;

/** In the language of the shop: a service refuses a payment that is opened again with another text. */
const title = (orderNo: string, paymentNo: string, locale: Locale) =>
  orderNo === ''
    ? { en: `Payment ${paymentNo}`, 'zh-CN': `支付单 ${paymentNo}` }[locale]
    : { en: `Order ${orderNo}`, 'zh-CN': `订单 ${orderNo}` }[locale];

/**
 * Opens a pending payment at its provider, unless it is open there already, and stores how the shopper pays. Null for a provider
 * that needs no call. It calls over the network, so it must not run within a transaction.
 */
export async function beginPayment(
  { runtime, providers }: Deps,
  payment: Omit<PaymentAtProvider, 'is_open' | 'expires_at'> & { expires_at: Date },
  { params, site, client_address }: PayRequest,
): Promise<{ action: StoredAction; until: Date | null } | null> {
  const provider = providers.get(payment.provider);
  if (provider?.kind !== 'redirect' || !provider.begin) return null;
  const now = runtime.now();
  const known = usableAction(payment, now);
  if (known) return { action: known, until: payment.action_until };
  const { payment_no, order_no, amount, currency, channel, return_url, expires_at } = payment;
  const of = title(order_no, payment_no, runtime.settings.get(shopLocale));
  const opening = { payment_no, title: of, amount, currency, channel, return_url };
  const { valid_until, ...action } = await provider
    .begin({ ...opening, params, expires_at, client_address }, site, AbortSignal.timeout(beginMs))
    .catch((error: unknown) => {
      if (error instanceof AppError) throw error;
      runtime.log.warn({ err: error, provider: provider.name, payment_no }, 'a payment could not be opened');
      throw orderErrors.provider_away({ provider: provider.name });
    });
  await runtime.sql.begin(async (tx) => {
    const checkAt = new Date(expires_at.getTime() - checkBeforeMs);
    await Promise.all([
      setPayActions(tx, [{ payment_no, pay_action: action, action_until: valid_until }], now),
      enqueueJobs(tx, [{ ...checkJob(payment_no), runAt: checkAt > now ? checkAt : now }]),
    ]);
  });
  return { action, until: valid_until };
}
