import { randomBytes } from 'node:crypto';
import { isoInZone, toWire } from '@tradepost/core';
import { defineRoute, type Resource, type Route, requestLocale } from '@tradepost/http';
import { timeZone } from '@tradepost/runtime';
import { orderErrors } from '../../../errors.ts';
import { signedHeaders } from '../../pay-signature.ts';
import { cashierBody, cashierParams, payCallbackAnswer } from '../../payment-schemas.ts';
import { selectPayment } from '../../payment-store.ts';
import { selectSubjectPayment } from '../../subjects/subject-store.ts';
import type { ProviderRuntime, ReceiveNotice } from '../provider.ts';
import { cashierPage, cashierScript, pagePolicy } from './cashier-page.ts';
import { sandboxCashierUrl, sandboxName, sandboxSecret } from './settings.ts';

/** The payment that this page may settle. Only payments of the sandbox, and only while no other cashier is set up. */
async function cashierPayment({ sql, settings, now }: Omit<ProviderRuntime, 'config'>, paymentNo: string) {
  if (settings.get(sandboxCashierUrl) !== '') return undefined;
  const ofOrder = await selectPayment(sql, paymentNo, null, now());
  const payment = ofOrder ?? (await selectSubjectPayment(sql, paymentNo));
  return payment?.provider === sandboxName ? { order_no: ofOrder?.order_no ?? '', ...payment } : undefined;
}

/** The cashier page for development. Its buttons send the notice that a payment gateway would send. */
export function cashierResources(runtime: Omit<ProviderRuntime, 'config'>): Resource[] {
  return [
    {
      path: '/pay/sandbox/:payment_no',
      summary: 'Cashier page of the payment provider sandbox; not in production',
      contentType: 'text/html',
      async handle(request, { payment_no = '' }) {
        const lang = new URL(request.url).searchParams.get('lang');
        const locale = requestLocale(request, lang, runtime.settings);
        const params = cashierParams.safeParse({ payment_no });
        const payment = params.success ? await cashierPayment(runtime, params.data.payment_no) : undefined;
        return new Response(cashierPage(payment, locale), {
          status: payment ? 200 : 404,
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'content-security-policy': pagePolicy,
            'cache-control': 'no-store',
            'x-content-type-options': 'nosniff',
            'referrer-policy': 'no-referrer',
          },
        });
      },
    },
    {
      path: '/pay/cashier.js',
      summary: 'Script of the cashier page',
      contentType: 'text/javascript',
      handle: () => new Response(cashierScript, { headers: { 'content-type': 'text/javascript; charset=utf-8' } }),
    },
  ];
}

export function cashierRoutes(runtime: ProviderRuntime, receive: ReceiveNotice): Route[] {
  const { settings, now } = runtime;
  return [
    defineRoute({
      method: 'POST',
      path: '/api/pay/sandbox/:payment_no',
      auth: 'public',
      tag: 'Payments',
      summary: 'Notice of the sandbox cashier page about a payment; not in production',
      params: cashierParams,
      body: cashierBody,
      response: payCallbackAnswer,
      refuses: [orderErrors.payment_not_found, orderErrors.provider_not_ready, orderErrors.trade_conflict],
      repeat: 'natural',
      statements: 16,
      async handle({ params, body }) {
        const payment = await cashierPayment(runtime, params.payment_no);
        if (!payment) throw orderErrors.payment_not_found();
        const secret = settings.get(sandboxSecret);
        if (secret === '') throw orderErrors.provider_not_ready({ provider: sandboxName, missing: sandboxSecret.key });
        const at = now();
        const notice = {
          ...{ provider: sandboxName, payment_no: payment.payment_no, amount: toWire(payment.amount) },
          ...{ currency: payment.currency, status: body.status, paid_at: isoInZone(at, settings.get(timeZone)) },
          // One trade number per payment: a second click repeats the notice and pays nothing more.
          trade_no: `SBX-${payment.payment_no}`,
        };
        const text = JSON.stringify(notice);
        const message = {
          ...{ timestamp: String(Math.trunc(at.getTime() / 1000)), nonce: randomBytes(16).toString('hex') },
          body: text,
        };
        const answer = await receive(notice, new Headers(signedHeaders(secret, message)), Buffer.from(text));
        return { received: true as const, ...answer };
      },
    }),
  ];
}
