import { createHash } from 'node:crypto';
import { toMinor } from '@tradepost/core';
import type { Inventory } from '@tradepost/inventory';
import { openCountedWarning, type Runtime } from '@tradepost/runtime';
import { type PaymentNotice, processNotices } from './payment-notices.ts';
import { settleRefund } from './provider-calls/settle-refund.ts';
import { type PaymentProviders, redirectProviders } from './providers/open-providers.ts';
import type { NoticeAnswer, NoticeReceivers, ReceiveNotice } from './providers/provider.ts';
import type { PaymentSubject } from './subjects/payment-subject.ts';

/** The functions that process notices, for the endpoints and jobs that receive them. */
export type Receivers = {
  /** Verifies a notice in the form of POST /api/pay/callback and processes it. */
  readonly receive: ReceiveNotice;
  /** Processes what a provider has verified itself. */
  ofProvider(provider: string): NoticeReceivers;
};

/** The key of a report: repeats of a notice differ in time, signature and encryption, and not in what they report. */
const digestOf = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

/** Returns the functions that process notices as part of a batch. */
export function openReceivers(
  runtime: Runtime,
  inventory: Inventory,
  providers: PaymentProviders,
  subjects: readonly PaymentSubject[],
): Receivers {
  const process = runtime.groupCommit<PaymentNotice, NoticeAnswer>('payment_notices', (many) =>
    processNotices({ runtime, inventory, providers, subjects }, many),
  );
  const senders = new Map(redirectProviders(providers).map((provider) => [provider.name, provider]));
  const warnOfSignature = openCountedWarning(runtime.log, 'payment notices were refused for their signature');
  const warnOfNotice = openCountedWarning(runtime.log, 'notices of payment providers were refused');
  return {
    async receive(body, headers, raw) {
      const sender = senders.get(body.provider);
      if (!sender?.verify) throw new Error(`the payment provider ${body.provider} sends no such notices`);
      let nonce: string;
      try {
        nonce = sender.verify(headers, raw).nonce;
      } catch (error) {
        warnOfSignature({ provider: body.provider, err: error });
        throw error;
      }
      const { provider, payment_no, trade_no, currency, status } = body;
      return process({
        ...{ provider, payment_no, trade_no, currency, status, nonce },
        amount: toMinor(body.amount),
        paid_at: body.paid_at ? new Date(body.paid_at) : null,
        digest: digestOf(raw),
      });
    },
    ofProvider: (provider) => ({
      async payment(report) {
        const { payment_no, trade_no, amount, currency, status } = report;
        const digest = digestOf(JSON.stringify([payment_no, trade_no, amount, currency, status]));
        return process({ ...report, provider, digest, nonce: digest });
      },
      refund: (report) => settleRefund(runtime, provider, report),
      refused: (error) => warnOfNotice({ provider, err: error }),
    }),
  };
}
