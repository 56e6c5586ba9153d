import {
  type OpeningPayment,
  type PayAction,
  type ProviderRuntime,
  payCurrency,
  paymentErrors,
  type RedirectProvider,
  type RefundAnswer,
  type RefundRequest,
} from '@tradepost/orders';
import type Stripe from 'stripe';
import { findRefunds, intentRecord, listRecords, refundRecord, sessionRecord } from './records.ts';
import { requiredSettings } from './settings.ts';
import { isMissing, isRefusal, openStripeClients, providerName } from './stripe-client.ts';
import { webhookResource } from './webhook.ts';

const maxName = 200;
/** A session lives from half an hour to a day. */
const minLifeMs = 31 * 60_000;
const maxLifeMs = 23 * 60 * 60_000;
const roundMs = 10 * 60_000;

/** Only currencies with cents: the shop counts hundredths. */
const hasCents = (currency: string): boolean => {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return maximumFractionDigits === 2;
};

/** The end of a session. It is rounded up, so that two requests at once are one for Stripe. */
function endOf(payment: OpeningPayment, now: Date): number {
  const at = now.getTime();
  const wanted = Math.min(Math.max(payment.expires_at.getTime(), at + minLifeMs), at + maxLifeMs);
  return (Math.ceil(wanted / roundMs) * roundMs) / 1_000;
}

async function begin(client: Stripe, payment: OpeningPayment, site: string, now: Date): Promise<PayAction> {
  const { payment_no, amount, currency } = payment;
  const name = [...payment.title].slice(0, maxName).join('');
  const back = payment.return_url || (site === '' ? '' : `${site}/`);
  if (back === '') throw paymentErrors.provider_not_ready({ provider: providerName, missing: 'PUBLIC_URL' });
  const expires_at = endOf(payment, now);
  const session = await client.checkout.sessions.create(
    {
      ...{ mode: 'payment', client_reference_id: payment_no, metadata: { payment_no }, expires_at },
      line_items: [
        {
          quantity: 1,
          price_data: { currency: currency.toLowerCase(), unit_amount: amount, product_data: { name } },
        },
      ],
      payment_intent_data: { metadata: { payment_no }, description: name },
      ...{ success_url: back, cancel_url: back },
    },
    { idempotencyKey: `${payment_no}:${expires_at}` },
  );
  if (session.amount_total !== amount || session.currency?.toUpperCase() !== currency || !session.url)
    throw new Error('Stripe opened another payment than was requested');
  const valid_until = new Date(session.expires_at * 1_000);
  return { pay_url: session.url, pay_params: {}, provider_ref: session.id, valid_until };
}

const answerOf = (refund: Stripe.Refund): RefundAnswer => {
  const { status } = refundRecord(refund);
  return status === 'failed'
    ? { status, reason: `Stripe reports the refund as ${refund.failure_reason ?? refund.status}` }
    : { status, provider_ref: refund.id };
};

/** Stripe forgets an idempotency key after a day, so a refund that exists is searched for first. */
async function refund(client: Stripe, request: RefundRequest): Promise<RefundAnswer> {
  const { refund_no, payment_no, trade_no, amount } = request;
  const known = await findRefunds(client, request);
  const live = known.find((one) => refundRecord(one).status !== 'failed');
  if (live) return answerOf(live);
  try {
    const made = await client.refunds.create(
      { payment_intent: trade_no, amount, metadata: { refund_no, payment_no } },
      // An operator repeats a refund that has failed.
      { idempotencyKey: `${refund_no}:${known.length}` },
    );
    return answerOf(made);
  } catch (error) {
    if (isRefusal(error)) return { status: 'failed', reason: error.message.slice(0, 300) };
    throw error;
  }
}

export function stripeProvider(runtime: ProviderRuntime): RedirectProvider {
  const { settings, now } = runtime;
  const clients = openStripeClients(settings);
  return {
    ready() {
      const missing = requiredSettings.find((one) => settings.get(one) === '');
      if (missing) throw paymentErrors.provider_not_ready({ provider: providerName, missing: missing.key });
      const currency = settings.get(payCurrency);
      if (!hasCents(currency))
        throw paymentErrors.currency_unsupported({ provider: providerName, currency, setting: payCurrency.key });
    },
    async begin(payment, site) {
      try {
        return await begin(await clients.client(), payment, site, now());
      } catch (error) {
        if (!isRefusal(error)) throw error;
        throw paymentErrors.provider_refused({ provider: providerName, reason: error.message.slice(0, 300) });
      }
    },
    notices: (receivers) => [webhookResource(clients, runtime, receivers)],
    refund: async (request) => refund(await clients.client(), request),
    async find(name) {
      const client = await clients.client();
      try {
        if (name.refund_no !== undefined) {
          const found = await findRefunds(client, name);
          const refunds = found.map(refundRecord);
          return refunds.find(({ status }) => status !== 'failed') ?? refunds[0] ?? null;
        }
        if (name.trade_no) return intentRecord(await client.paymentIntents.retrieve(name.trade_no));
        return name.provider_ref === ''
          ? null
          : sessionRecord(await client.checkout.sessions.retrieve(name.provider_ref));
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async close({ provider_ref }) {
      if (provider_ref === '') return;
      const client = await clients.client();
      await client.checkout.sessions.expire(provider_ref).catch(async (error: unknown) => {
        if (isMissing(error)) return;
        const { status } = await client.checkout.sessions.retrieve(provider_ref);
        // It has ended by itself. A session that was paid meanwhile is found by the repeat of the job.
        if (status !== 'expired') throw error;
      });
    },
    async *records(period, signal) {
      yield* listRecords(await clients.client(), period, signal);
    },
    stop: clients.close,
  };
}
