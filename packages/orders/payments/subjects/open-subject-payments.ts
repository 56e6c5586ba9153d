import { fileUrls } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { orderErrors } from '../../errors.ts';
import { payCurrency, payProvider } from '../../settings.ts';
import { numberWith } from '../payment-rules.ts';
import { payUrlOf } from '../provider-calls/pay-page.ts';
import { isInstantPaymentOn } from '../providers/instant/instant-payment.ts';
import type { PaymentProviders } from '../providers/open-providers.ts';
import type { SubjectPayments } from './payment-subject.ts';
import { closeSubjectPayments, insertSubjectPayments, selectOpenPayment } from './subject-store.ts';

/** The page of a payment opens it in the default channel: it redirects, or shows a QR code. */
const channelOf = (providers: PaymentProviders, name: string): string => {
  const provider = providers.get(name);
  return provider?.kind === 'redirect' ? provider.channels[0]! : '';
};

/** The payments of subjects, at the payment providers of the shop. */
export function openSubjectPayments(
  { settings, config }: Pick<Runtime, 'settings' | 'config'>,
  providers: PaymentProviders,
): SubjectPayments {
  return {
    isInstant: () => isInstantPaymentOn({ settings, config }),
    providerName() {
      const name = settings.get(payProvider);
      const provider = providers.get(name);
      if (!provider) throw orderErrors.provider_off({ setting: payProvider.key, provider: name });
      // Instant payment is on or off for the whole shop, whatever provider the setting names.
      if (provider.kind !== 'redirect') throw orderErrors.instant_pay_off();
      provider.ready();
      return name;
    },
    async open(tx, { subject, id, provider, amount, expires_at, now }) {
      const currency = settings.get(payCurrency);
      const existing = await selectOpenPayment(tx, { subject: subject.name, id, provider, amount, currency });
      if (existing) return existing;
      const payment = { payment_no: numberWith(subject.prefix, now), provider, amount, currency };
      await insertSubjectPayments(tx, [
        {
          ...{ ...payment, subject: subject.name, subject_id: id, order_id: null, status: 'pending' },
          ...{
            trade_no: null,
            origin_id: null,
            return_url: '',
            channel: channelOf(providers, provider),
            expires_at,
            paid_at: null,
            created_at: now,
          },
        },
      ]);
      return payment;
    },
    close: closeSubjectPayments,
    payUrl(payment, request) {
      const site = fileUrls(request, config).absolute('/').slice(0, -1);
      return payUrlOf(providers, { ...payment, pay_action: null, action_until: null }, site, new Date());
    },
  };
}
