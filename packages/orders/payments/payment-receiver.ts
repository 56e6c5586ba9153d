import { createHash } from 'node:crypto';
import { toMinor } from '@tradepost/core';
import type { Inventory } from '@tradepost/inventory';
import { openCountedWarning, type Runtime } from '@tradepost/runtime';
import { type PaymentNotice, takeNotices } from './payment-notices.ts';
import { type PaymentProviders, redirectProviders } from './providers/open-providers.ts';
import type { ReceiveNotice, TakenNotice } from './providers/provider.ts';

export function openReceiver(runtime: Runtime, inventory: Inventory, providers: PaymentProviders): ReceiveNotice {
  const take = runtime.groupCommit<PaymentNotice, TakenNotice>('payment_notices', (many) =>
    takeNotices({ runtime, inventory }, many),
  );
  const senders = new Map(redirectProviders(providers).map((provider) => [provider.name, provider]));
  const notOurs = openCountedWarning(runtime.log, 'payment notices were refused for their signature');
  return async (body, headers, raw) => {
    let nonce: string;
    try {
      nonce = senders.get(body.provider)!.verify(headers, raw).nonce;
    } catch (error) {
      notOurs({ provider: body.provider, err: error });
      throw error;
    }
    const { provider, payment_no, trade_no, currency, status } = body;
    return take({
      ...{ provider, payment_no, trade_no, currency, status, nonce },
      amount: toMinor(body.amount),
      paid_at: body.paid_at ? new Date(body.paid_at) : null,
      digest: createHash('sha256').update(raw).digest('hex'),
    });
  };
}
