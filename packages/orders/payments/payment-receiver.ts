import { createHash } from 'node:crypto';
import { toMinor } from '@tradepost/core';
import type { Inventory } from '@tradepost/inventory';
import { openCountedWarning, type Runtime } from '@tradepost/runtime';
import { type PaymentNotice, processNotices } from './payment-notices.ts';
import { type PaymentProviders, redirectProviders } from './providers/open-providers.ts';
import type { NoticeAnswer, ReceiveNotice } from './providers/provider.ts';

/** Returns the function that verifies a notice and processes it as part of a batch. */
export function openReceiver(runtime: Runtime, inventory: Inventory, providers: PaymentProviders): ReceiveNotice {
  const process = runtime.groupCommit<PaymentNotice, NoticeAnswer>('payment_notices', (many) =>
    processNotices({ runtime, inventory }, many),
  );
  const senders = new Map(redirectProviders(providers).map((provider) => [provider.name, provider]));
  const warnOfSignature = openCountedWarning(runtime.log, 'payment notices were refused for their signature');
  return async (body, headers, raw) => {
    const sender = senders.get(body.provider);
    if (!sender) throw new Error(`the payment provider ${body.provider} sends no notices`);
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
      digest: createHash('sha256').update(raw).digest('hex'),
    });
  };
}
