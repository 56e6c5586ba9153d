import type { Resource } from '@tradepost/http';
import { type NoticeReceivers, type PaymentReport, paymentErrors } from '@tradepost/orders';
import type { Runtime } from '@tradepost/runtime';
import type Stripe from 'stripe';
import { refundRecord, sessionRecord } from './records.ts';
import { webhookSecret } from './settings.ts';
import type { StripeClients } from './stripe-client.ts';

const webhookPath = '/api/v1/notify/stripe';
/** Seconds by which an event may be older than our clock. */
const toleranceSeconds = 300;

const answer = (status: number, body: object) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

/** What an event of a session reports; null while nothing is decided. */
function sessionReport(type: string, session: Stripe.Checkout.Session): PaymentReport | null {
  const { payment_no, trade_no, amount, currency, status, at: paid_at } = sessionRecord(session);
  if (payment_no === '') return null;
  const report = { payment_no, trade_no, amount, currency };
  if (status === 'succeeded') return { ...report, status, paid_at: type.endsWith('completed') ? null : paid_at };
  const isOver = type === 'checkout.session.expired' || type === 'checkout.session.async_payment_failed';
  return isOver ? { ...report, status: 'failed', paid_at: null } : null;
}

/** Processes a verified event. Events that the shop does not need are accepted. */
async function process({ type, data }: Stripe.Event, receivers: NoticeReceivers): Promise<void> {
  if (type.startsWith('checkout.session.')) {
    const report = sessionReport(type, data.object as Stripe.Checkout.Session);
    if (report) await receivers.payment(report);
  } else if (type.startsWith('refund.')) {
    const refund = data.object as Stripe.Refund;
    const { refund_no, amount, currency, status } = refundRecord(refund);
    if (refund_no === '' || status === 'pending') return;
    const reason = status === 'failed' ? `Stripe reports the refund as ${refund.failure_reason ?? refund.status}` : '';
    await receivers.refund({ refund_no, amount, currency, status, provider_ref: refund.id, reason });
  }
}

/** The endpoint for webhooks. Stripe repeats an event until it is answered with 2xx. */
export const webhookResource = (
  clients: StripeClients,
  { settings, now }: Pick<Runtime, 'settings' | 'now'>,
  receivers: NoticeReceivers,
): Resource => ({
  method: 'POST',
  path: webhookPath,
  summary: 'Signed event of Stripe about a payment or a refund; it may be repeated',
  contentType: 'application/json',
  async handle(request) {
    try {
      const secret = settings.get(webhookSecret);
      if (secret === '') throw paymentErrors.signature_invalid();
      const body = await request.text();
      const client = await clients.client();
      const signature = request.headers.get('stripe-signature') ?? '';
      let event: Stripe.Event;
      try {
        const at = now().getTime();
        event = client.webhooks.constructEvent(body, signature, secret, toleranceSeconds, undefined, at);
      } catch {
        throw paymentErrors.signature_invalid();
      }
      await process(event, receivers);
      return answer(200, { received: true });
    } catch (error) {
      receivers.refused(error);
      return answer(400, { received: false });
    }
  },
});
