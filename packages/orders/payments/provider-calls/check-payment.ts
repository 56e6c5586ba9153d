import { AppError } from '@tradepost/core';
import type { Job, Log, Runtime } from '@tradepost/runtime';
import { z } from 'zod';
import { type PaymentProviders, redirectProviders } from '../providers/open-providers.ts';
import type { NoticeReceivers } from '../providers/provider.ts';
import { selectPaymentAtProvider } from './provider-call-store.ts';

export const checkTask = 'payments.check';

/** The job that asks the provider about one payment. Its key allows one queued job per payment. */
export const checkJob = (paymentNo: string): Job => ({
  task: checkTask,
  payload: { payment_no: paymentNo },
  key: `${checkTask}:${paymentNo}`,
});

const payload = z.object({ payment_no: z.string() });
type Deps = {
  runtime: Pick<Runtime, 'sql' | 'now'>;
  providers: PaymentProviders;
  receiversOf(provider: string): Pick<NoticeReceivers, 'payment'>;
};

/**
 * Asks the provider about a payment. Money whose notice was lost is processed as its notice would be. A payment for which the shop
 * does not wait any more is closed at the provider. It is safe to run twice.
 */
export async function checkPayment(
  { runtime, providers, receiversOf }: Deps,
  given: unknown,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<void> {
  const { payment_no } = payload.parse(given);
  const payment = await selectPaymentAtProvider(runtime.sql, payment_no, runtime.now());
  if (!payment?.pay_action || payment.status === 'refunded' || payment.status === 'succeeded') return;
  const provider = redirectProviders(providers).find(({ name }) => name === payment.provider);
  if (!provider?.find) return;
  const name = { payment_no, trade_no: payment.trade_no, provider_ref: payment.pay_action.provider_ref };
  const record = await provider.find(name, signal);
  if (record?.status === 'succeeded') {
    const { trade_no, amount, currency, at: paid_at } = record;
    try {
      await receiversOf(provider.name).payment({
        payment_no,
        trade_no,
        amount,
        currency,
        status: 'succeeded',
        paid_at,
      });
    } catch (error) {
      // A refusal is recorded with the notices, for an operator. A repeat would be refused too.
      if (!(error instanceof AppError)) throw error;
      log.error({ err: error, payment_no, trade_no }, 'the provider has money for a payment that the shop refused');
    }
    return;
  }
  // A payment that has ended at the provider needs no call, and some providers refuse it.
  if (!payment.is_open && record?.status !== 'failed') await provider.close?.(name, signal);
}
