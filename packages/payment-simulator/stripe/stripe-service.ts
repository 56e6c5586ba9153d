import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Ledger, LedgerRefusal, type Refund, type Trade } from '../ledger.ts';
import type { Answered, Notice, NoticeOptions, PaymentService, Received } from '../service.ts';

const secretKey = 'sk_test_simulator0001';
const webhookSecret = 'whsec_simulator0001';
const seconds = (at: Date) => Math.trunc(at.getTime() / 1_000);

const opening = z.object({
  mode: z.literal('payment'),
  client_reference_id: z.string().min(1).max(200),
  expires_at: z.coerce.number().int(),
  success_url: z.url(),
  'line_items[0][quantity]': z.literal('1'),
  'line_items[0][price_data][currency]': z.string().regex(/^[a-z]{3}$/),
  'line_items[0][price_data][unit_amount]': z.coerce.number().int().min(1),
  'line_items[0][price_data][product_data][name]': z.string().min(1),
});
const refunding = z.object({
  payment_intent: z.string().min(1),
  amount: z.coerce.number().int().min(1),
  'metadata[refund_no]': z.string().min(1).max(500),
});

const fault = (status: number, message: string, code = 'parameter_invalid'): Answered => ({
  status,
  body: JSON.stringify({ error: { type: 'invalid_request_error', code, message } }),
});
const refusals: Readonly<Record<LedgerRefusal['code'], [number, string, string]>> = {
  unknown: [404, 'No such object', 'resource_missing'],
  paid: [400, 'The session is complete', 'session_not_open'],
  closed: [400, 'The session has expired', 'session_not_open'],
  not_paid: [400, 'The payment has not succeeded', 'payment_intent_unexpected_state'],
  exceeds: [400, 'Refund amount is greater than the unrefunded amount on the charge', 'charge_already_refunded'],
  different: [400, 'Other parameters than those of the first request', 'idempotency_key_in_use'],
};

const sessionPrefix = 'cs_test_';
const sessionStates = { open: 'open', paid: 'complete', closed: 'expired' } as const;

/** The objects of the API. */
function openViews(ledger: Ledger, base: () => string) {
  const session = (of: Trade) => ({
    ...{ id: `${sessionPrefix}${of.payment_no}`, object: 'checkout.session', mode: 'payment' },
    ...{ client_reference_id: of.payment_no, metadata: { payment_no: of.payment_no }, amount_total: of.amount },
    ...{
      currency: of.currency.toLowerCase(),
      status: sessionStates[of.status],
      created: seconds(of.paid_at ?? new Date()),
    },
    ...{ payment_status: of.status === 'paid' ? 'paid' : 'unpaid', payment_intent: of.trade_no || null },
    ...{
      expires_at: seconds(of.expires_at!),
      url: of.status === 'open' ? `${base()}/cashier/stripe/${of.payment_no}` : null,
    },
  });
  const intent = (of: Trade) => ({
    ...{
      id: of.trade_no,
      object: 'payment_intent',
      amount: of.amount,
      amount_received: of.amount,
      status: 'succeeded',
    },
    ...{ currency: of.currency.toLowerCase(), created: seconds(of.paid_at!), metadata: { payment_no: of.payment_no } },
  });
  const refund = (of: Refund) => ({
    ...{ id: of.refund_id, object: 'refund', amount: of.amount, currency: of.currency.toLowerCase() },
    ...{ status: of.status === 'processing' ? 'pending' : of.status, created: seconds(of.at) },
    ...{
      payment_intent: ledger.trade(of.payment_no).trade_no,
      metadata: { refund_no: of.refund_no, payment_no: of.payment_no },
    },
    ...(of.status === 'failed' ? { failure_reason: 'expired_or_canceled_card' } : {}),
  });
  return { session, intent, refund };
}

const ok = (value: unknown): Answered => ({ status: 200, body: JSON.stringify(value) });

/** A page of a list: the objects of a period or a payment, newest first, after the one that the caller names. */
function pageOf<T extends { id: string; created: number }>(all: readonly T[], query: URLSearchParams): Answered {
  const from = Number(query.get('created[gte]') ?? 0);
  const to = Number(query.get('created[lt]') ?? Number.MAX_SAFE_INTEGER);
  const limit = Number(query.get('limit') ?? 10);
  const chosen = all.filter(({ created }) => created >= from && created < to).sort((a, b) => b.created - a.created);
  const after = chosen.findIndex(({ id }) => id === query.get('starting_after'));
  const data = chosen.slice(after + 1, after + 1 + limit);
  return ok({ object: 'list', data, has_more: after + 1 + limit < chosen.length, url: '/v1' });
}

type Deps = { ledger: Ledger; now: () => Date; base: () => string };

/** The calls of the protocol, by method and path. */
function openRoute({ ledger, now, base }: Deps) {
  const { session, intent, refund } = openViews(ledger, base);
  const open = (form: Readonly<Record<string, string>>): Answered => {
    const of = opening.parse(form);
    const expires_at = new Date(of.expires_at * 1_000);
    if (expires_at.getTime() < now().getTime() + 30 * 60_000)
      return fault(400, 'expires_at must be 30 minutes from now');
    const opened = ledger.open({
      ...{ payment_no: of.client_reference_id, title: of['line_items[0][price_data][product_data][name]'] },
      ...{ amount: of['line_items[0][price_data][unit_amount]'], channel: 'checkout', notify_url: '' },
      ...{ currency: of['line_items[0][price_data][currency]'].toUpperCase(), return_url: of.success_url, expires_at },
    });
    return ok(session(opened));
  };
  const startRefund = (form: Readonly<Record<string, string>>): Answered => {
    const { payment_intent, amount, 'metadata[refund_no]': refund_no } = refunding.parse(form);
    const { payment_no } = ledger.byTradeNo(payment_intent);
    return ok(
      refund(ledger.startRefund({ refund_no, payment_no, amount, notify_url: '', status: 'processing' }, 're_')),
    );
  };
  return ({ method, target, body }: Received): Answered => {
    const { pathname, searchParams } = new URL(target, 'http://simulator');
    const form = Object.fromEntries(new URLSearchParams(body));
    const path = `${method} ${pathname}`;
    if (path === 'POST /checkout/sessions') return open(form);
    const named = /^(GET|POST) \/checkout\/sessions\/cs_test_([^/]+)(\/expire)?$/.exec(path);
    if (named) return ok(session(named[3] ? ledger.close(named[2]!) : ledger.trade(named[2]!)));
    if (path === 'GET /payment_intents')
      return pageOf(
        ledger
          .trades()
          .filter(({ status }) => status === 'paid')
          .map(intent),
        searchParams,
      );
    const paid = /^GET \/payment_intents\/([^/]+)$/.exec(path);
    if (paid) return ok(intent(ledger.byTradeNo(paid[1]!)));
    if (path === 'POST /refunds') return startRefund(form);
    if (path === 'GET /refunds') {
      const of = searchParams.get('payment_intent');
      return pageOf(
        ledger
          .refunds()
          .map(refund)
          .filter((one) => of === null || one.payment_intent === of),
        searchParams,
      );
    }
    return fault(404, 'Unrecognized request URL');
  };
}

/** The first answers of requests with an idempotency key. */
const maxKeys = 100_000;

export type StripeService = PaymentService & {
  /** Sets the address of the webhook endpoint, as its dashboard does. */
  setEndpoint(url: string): void;
};

/** Stripe with Checkout Sessions, refunds and webhooks. */
export function openStripe(ledger: Ledger, deps: { now: () => Date; base: () => string }): StripeService {
  const { now } = deps;
  const route = openRoute({ ledger, ...deps });
  const { session, refund } = openViews(ledger, deps.base);
  const answers = new Map<string, Answered>();
  let endpoint = '';

  const event = (type: string, object: unknown, { age = 0, wrongSignature = false }: NoticeOptions): Notice => {
    const body = JSON.stringify({
      ...{ id: `evt_${randomBytes(12).toString('hex')}`, object: 'event', type, created: seconds(now()) },
      data: { object },
    });
    const t = seconds(now()) - age;
    const v1 = createHmac('sha256', wrongSignature ? 'whsec_unknown' : webhookSecret)
      .update(`${t}.${body}`)
      .digest('hex');
    return {
      url: endpoint,
      headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': `t=${t},v1=${v1}` },
      body,
    };
  };
  return {
    name: 'stripe',
    ledger,
    setEndpoint(url) {
      endpoint = url;
    },
    answer(request) {
      if (request.headers.get('authorization') !== `Bearer ${secretKey}`)
        return {
          status: 401,
          body: JSON.stringify({ error: { type: 'invalid_request_error', message: 'Invalid API Key' } }),
        };
      const key = request.method === 'POST' ? request.headers.get('idempotency-key') : null;
      const known = key === null ? undefined : answers.get(key);
      if (known) return known;
      try {
        const answered = route(request);
        if (key !== null && answers.size < maxKeys) answers.set(key, answered);
        return answered;
      } catch (error) {
        if (error instanceof LedgerRefusal) return fault(...refusals[error.code]);
        if (error instanceof z.ZodError) return fault(400, error.message.slice(0, 300));
        throw error;
      }
    },
    pay: (paymentNo, more) => void ledger.pay(paymentNo, 'pi_', more),
    paymentNotice(paymentNo, options = {}) {
      const of = ledger.trade(paymentNo);
      const { amount = of.amount, currency = of.currency } = options;
      const type = of.status === 'closed' ? 'checkout.session.expired' : 'checkout.session.completed';
      return event(type, session({ ...of, amount, currency }), options);
    },
    refundNotice(refundNo, options = {}) {
      const of = ledger.refund(refundNo);
      const object = refund({ ...of, amount: options.amount ?? of.amount });
      return event(of.status === 'failed' ? 'refund.failed' : 'refund.updated', object, options);
    },
    settings: () => [
      { key: 'stripe.api_url', value: deps.base() },
      { key: 'stripe.secret_key', value: secretKey, secret: true },
      { key: 'stripe.webhook_secret', value: webhookSecret, secret: true },
    ],
  };
}
