import { isoInZone, type Locale } from '@tradepost/core';
import { defineRoute, fileUrls, type Route } from '@tradepost/http';
import type { Inventory } from '@tradepost/inventory';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import type { OwnedOrder } from '../orders/order-store.ts';
import { payOrders } from '../orders/settle-orders.ts';
import { payProvider } from '../settings.ts';
import { type CreatePayment, createPayments } from './payment-intents.ts';
import { openReceiver } from './payment-receiver.ts';
import { type PaymentOfOrder, paymentView } from './payment-rules.ts';
import { payCallbackAnswer, payCallbackBody, payCreateBody, paymentSchema, payStatusQuery } from './payment-schemas.ts';
import { selectPayment, selectPaymentOfOrder } from './payment-store.ts';
import { type PaymentProviders, redirectProviders } from './providers/open-providers.ts';

export function paymentRoutes(runtime: Runtime, inventory: Inventory, providers: PaymentProviders): Route[] {
  const { sql, settings, config } = runtime;
  const create = runtime.groupCommit<CreatePayment, PaymentOfOrder>('create_payments', (many) =>
    createPayments({ runtime }, many),
  );
  const payInstantly = runtime.groupCommit<OwnedOrder, true>('pay_orders', (many, record) =>
    payOrders({ runtime, inventory }, many, record),
  );
  const receive = openReceiver(runtime, inventory, providers);
  const names = [...providers.keys()];
  const redirects = redirectProviders(providers);
  const paymentAnswer = paymentSchema(names);
  const providerNamed = (name: string) => {
    const provider = providers.get(name);
    // A request names a provider that runs. The setting may name a provider of a module that is switched off.
    if (!provider) throw orderErrors.provider_off({ setting: payProvider.key, provider: name });
    return provider;
  };
  const view = (payment: PaymentOfOrder, request: Request, locale: Locale) => {
    const zone = settings.get(timeZone);
    const provider = providers.get(payment.provider);
    const site = fileUrls(request, config).absolute('/').slice(0, -1);
    const payUrl = provider?.kind === 'redirect' ? provider.payUrl(payment, site) : '';
    return paymentView(payment, (at) => isoInZone(at, zone), locale, payUrl);
  };

  return [
    defineRoute({
      method: 'POST',
      path: '/api/pay/create',
      auth: 'shopper',
      tag: 'Payments',
      summary: 'Open a payment of an unpaid order, or return the open one; the client sends the shopper to pay_url',
      description:
        'With the provider `instant` the order is paid within this request, if the setting `pay.instant` allows it.',
      body: payCreateBody(names),
      response: paymentAnswer,
      refuses: [
        orderErrors.provider_not_ready,
        orderErrors.provider_off,
        orderErrors.instant_pay_off,
        orderErrors.cannot_pay,
        orderErrors.payment_not_found,
      ],
      // A repeated request returns the open payment. The outcome of an instant payment is recorded.
      repeat: 'recorded',
      statements: 5,
      async handle({ caller, body, request, locale, claim }) {
        const { order_id, return_url } = body;
        const provider = providerNamed(body.provider ?? settings.get(payProvider));
        const own = { order_id, user_id: caller.id };
        if (provider.kind === 'redirect') {
          provider.ready();
          return view(await create({ ...own, provider: provider.name, return_url }), request, locale);
        }
        await payInstantly(own, claim);
        const payment = await selectPaymentOfOrder(sql, order_id, caller.id, runtime.now());
        if (!payment) throw orderErrors.payment_not_found();
        return view(payment, request, locale);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/pay/status',
      auth: 'shopper',
      tag: 'Payments',
      summary: 'One of my payments: by payment_no, or by order_id the succeeded, else the pending, else the latest one',
      query: payStatusQuery,
      response: paymentAnswer,
      refuses: [orderErrors.payment_not_found],
      statements: 1,
      async handle({ caller, query, request, locale }) {
        const { payment_no, order_id } = query;
        const payment =
          payment_no !== undefined
            ? await selectPayment(sql, payment_no, caller.id, runtime.now())
            : await selectPaymentOfOrder(sql, order_id!, caller.id, runtime.now());
        // The request has both numbers, and the payment belongs to another order.
        if (!payment || (order_id !== undefined && payment.order_id !== order_id))
          throw orderErrors.payment_not_found();
        return view(payment, request, locale);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/pay/callback',
      auth: 'public',
      tag: 'Payments',
      summary: 'Signed notice of a payment provider; it may be repeated',
      description:
        'Headers `X-Pay-Timestamp` (Unix seconds), `X-Pay-Nonce` (8 to 64 of A-Z a-z 0-9 . _ ~ -) and `X-Pay-Signature`: hex ' +
        'HMAC-SHA256 with the setting `pay.sandbox.secret` over timestamp, LF, nonce, LF and the bytes of the body. Code 0 means ' +
        'that the notice need not be repeated. Every other code is a refusal, whatever the HTTP status.',
      body: payCallbackBody(redirects.map(({ name }) => name)),
      rawBody: true,
      response: payCallbackAnswer,
      refuses: [
        orderErrors.provider_not_ready,
        orderErrors.signature_invalid,
        orderErrors.signature_expired,
        orderErrors.nonce_reused,
        orderErrors.payment_not_found,
        orderErrors.amount_mismatch,
        orderErrors.trade_conflict,
      ],
      repeat: 'natural',
      statements: 10,
      async handle({ body, request, rawBody }) {
        return { received: true as const, ...(await receive(body, request.headers, rawBody)) };
      },
    }),
    ...redirects.flatMap((provider) => provider.routes?.(receive) ?? []),
  ];
}
