import { AppError, type Locale } from '@tradepost/core';
import { clientAddress, fileUrls, type Resource, requestLocale } from '@tradepost/http';
import type { Runtime } from '@tradepost/runtime';
import { orderErrors } from '../../errors.ts';
import { type Payment, usableAction } from '../payment-rules.ts';
import type { PaymentProviders } from '../providers/open-providers.ts';
import { beginPayment } from './begin-payment.ts';
import { type PaymentAtProvider, selectPaymentAtProvider } from './provider-call-store.ts';
import { qrPage, qrPagePolicy } from './qr-page.ts';

const path = '/pay/open';
const paymentNoForm = /^[A-Z]{3}\d{23}$/;

/**
 * The address where a pending payment is paid. A payment that has to be opened at its provider first, by a call over the network,
 * has the address of a page of the shop that opens it.
 */
export function payUrlOf(
  providers: PaymentProviders,
  payment: Pick<Payment, 'payment_no' | 'provider' | 'pay_action' | 'action_until'>,
  site: string,
  now: Date,
): string {
  const provider = providers.get(payment.provider);
  if (provider?.kind !== 'redirect') return '';
  if (!provider.begin) return provider.payUrl?.(payment, site) ?? '';
  return usableAction(payment, now)?.pay_url ?? `${site}${path}/${payment.payment_no}`;
}

const plain = (text: string, status: number) =>
  new Response(`${text}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  });
const redirect = (location: string) =>
  new Response(null, { status: 302, headers: { location, 'cache-control': 'no-store' } });

function qrAnswer(payment: PaymentAtProvider, codeText: string | null, locale: Locale): Response {
  return new Response(qrPage(payment, codeText, locale), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': qrPagePolicy,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  });
}

/**
 * Opens a payment at its provider and sends the shopper there. A provider whose answer is the text of a QR code (`code_url`) has no
 * address: the page shows the code. The number of a payment cannot be guessed.
 */
export function payPage(runtime: Runtime, providers: PaymentProviders): Resource {
  return {
    path: `${path}/:payment_no`,
    summary: 'Open a payment at its provider: a redirect to its page, or its QR code',
    contentType: 'text/html',
    async handle(request, { payment_no = '' }) {
      const locale = requestLocale(request, new URL(request.url).searchParams.get('lang'), runtime.settings);
      try {
        if (!paymentNoForm.test(payment_no)) throw orderErrors.payment_not_found();
        const payment = await selectPaymentAtProvider(runtime.sql, payment_no, runtime.now());
        if (payment?.status === 'succeeded')
          return payment.return_url === '' ? qrAnswer(payment, null, locale) : redirect(payment.return_url);
        if (!payment?.is_open || !payment.expires_at) throw orderErrors.payment_not_found();
        const open = { ...payment, expires_at: payment.expires_at };
        const { trustedProxies } = runtime.config;
        const site = fileUrls(request, runtime.config).absolute('/').slice(0, -1);
        const client_address = clientAddress(request, trustedProxies);
        const begun = await beginPayment({ runtime, providers }, open, { params: {}, site, client_address });
        if (begun?.action.pay_url) return redirect(begun.action.pay_url);
        const code = begun?.action.pay_params.code_url;
        if (!code) throw orderErrors.payment_not_found();
        return qrAnswer(payment, code, locale);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return plain(error.messageIn(locale), error.code === 404 ? 404 : 502);
      }
    },
  };
}
