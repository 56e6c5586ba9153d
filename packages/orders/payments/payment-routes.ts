import { isoInZone, type Locale } from '@tradepost/core';
import { clientAddress, defineRoute, fileUrls, type Route } from '@tradepost/http';
import type { Inventory } from '@tradepost/inventory';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { orderErrors } from '../errors.ts';
import type { OwnedOrder } from '../orders/order-store.ts';
import { payOrders } from '../orders/settle-orders.ts';
import { type CreatePayment, createPayments } from './payment-intents.ts';
import type { Receivers } from './payment-receiver.ts';
import { type PaymentOfOrder, paymentView } from './payment-rules.ts';
import { payCallbackAnswer, payCallbackBody, payCreateBody, paymentSchema, payStatusQuery } from './payment-schemas.ts';
import { selectPayment, selectPaymentOfOrder } from './payment-store.ts';
import { beginPayment } from './provider-calls/begin-payment.ts';
import { payUrlOf } from './provider-calls/pay-page.ts';
import { selectPaymentMethod } from './provider-calls/provider-call-store.ts';
import { type PaymentProviders, providerFor, providerNamed, redirectProviders } from './providers/open-providers.ts';

/** The way to pay at a provider. Throws the refusal that lists those that it has. */
function channelOf({ name, channels }: { name: string; channels: readonly string[] }, channel = channels[0]!): string {
  if (channels.includes(channel)) return channel;
  throw orderErrors.unknown_channel({ provider: name, channels: channels.filter(Boolean).join(', ') || '-' });
}

export function paymentRoutes(
  runtime: Runtime,
  inventory: Inventory,
  providers: PaymentProviders,
  { receive }: Receivers,
): Route[] {
  const { sql, settings, config } = runtime;
  const create = runtime.groupCommit<CreatePayment, PaymentOfOrder>('create_payments', (many) =>
    createPayments({ runtime, providers }, many),
  );
  const payInstantly = runtime.groupCommit<OwnedOrder, true>('pay_orders', (many, record) =>
    payOrders({ runtime, inventory }, many, record),
  );
  const names = [...providers.keys()];
  const redirects = redirectProviders(providers);
  const paymentAnswer = paymentSchema(names);
  const siteOf = (request: Request) => fileUrls(request, config).absolute('/').slice(0, -1);
  const view = (payment: PaymentOfOrder, request: Request, locale: Locale) => {
    const zone = settings.get(timeZone);
    const payUrl = payUrlOf(providers, payment, siteOf(request), runtime.now());
    return paymentView(payment, { iso: (at) => isoInZone(at, zone), locale, payUrl, now: runtime.now() });
  };
  const choose = async (name: string | undefined, order_id: number, user_id: number) =>
    name === undefined
      ? providerFor(providers, settings, await selectPaymentMethod(sql, order_id, user_id))
      : providerNamed(providers, name);

  return [
    defineRoute({
      method: 'POST',
      path: '/api/pay/create',
      auth: 'shopper',
      tag: 'Payments',
      summary: 'Open a payment of an unpaid order, or return the open one; the client sends the shopper to pay_url',
      description:
        'With the provider `instant` the order is paid within this request, if the setting `pay.instant` allows it or the order costs ' +
        '0.00. Other providers refuse an order that costs 0.00. A provider with channels answers `pay_url`, or `pay_params` for its ' +
        'SDK. Another channel of the same provider closes the open payment and opens a new one.',
      body: payCreateBody(names),
      response: paymentAnswer,
      refuses: [
        orderErrors.provider_not_ready,
        orderErrors.provider_off,
        orderErrors.provider_refused,
        orderErrors.provider_away,
        orderErrors.currency_unsupported,
        orderErrors.unknown_channel,
        orderErrors.pay_param,
        orderErrors.instant_pay_off,
        orderErrors.cannot_pay,
        orderErrors.nothing_to_pay,
        orderErrors.payment_not_found,
      ],
      // A repeated request returns the open payment. The outcome of an instant payment is recorded.
      repeat: 'recorded',
      // Two more where the provider has to be asked: its answer and a job are stored.
      statements: 8,
      async handle({ caller, body, request, locale, claim }) {
        const { order_id, return_url, params } = body;
        const own = { order_id, user_id: caller.id };
        const provider = await choose(body.provider, order_id, caller.id);
        if (provider.kind === 'redirect') {
          provider.ready();
          const channel = channelOf(provider, body.channel);
          const payment = await create({ ...own, provider: provider.name, channel, return_url });
          const client_address = clientAddress(request, config.trustedProxies);
          const of = { params, site: siteOf(request), client_address };
          const begun = await beginPayment({ runtime, providers }, payment, of);
          const action = begun ? { pay_action: begun.action, action_until: begun.until } : {};
          return view({ ...payment, ...action }, request, locale);
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
      body: payCallbackBody(redirects.filter(({ verify }) => verify).map(({ name }) => name)),
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
      statements: 14,
      async handle({ body, request, rawBody }) {
        return { received: true as const, ...(await receive(body, request.headers, rawBody)) };
      },
    }),
  ];
}
