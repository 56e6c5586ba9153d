import type { ProviderRecord, RecordName } from '@tradepost/orders';
import type Stripe from 'stripe';

const pageSize = 100;
/** Refunds of one payment that are searched for a number. */
const maxRefunds = 1_000;

const idOf = (of: string | { id: string } | null | undefined): string => (typeof of === 'string' ? of : (of?.id ?? ''));

export function intentRecord(of: Stripe.PaymentIntent): ProviderRecord {
  const status = of.status === 'succeeded' ? 'succeeded' : of.status === 'canceled' ? 'failed' : 'pending';
  return {
    ...{ kind: 'payment', payment_no: of.metadata.payment_no ?? '', refund_no: '', trade_no: of.id, status },
    amount: status === 'succeeded' ? of.amount_received : of.amount,
    ...{ currency: of.currency.toUpperCase(), at: new Date(of.created * 1_000) },
  };
}

export function sessionRecord(of: Stripe.Checkout.Session): ProviderRecord {
  const status = of.payment_status === 'paid' ? 'succeeded' : of.status === 'expired' ? 'failed' : 'pending';
  return {
    ...{ kind: 'payment', payment_no: of.client_reference_id ?? '', refund_no: '', trade_no: idOf(of.payment_intent) },
    ...{ amount: of.amount_total ?? 0, currency: (of.currency ?? '').toUpperCase(), status },
    at: new Date(of.created * 1_000),
  };
}

export function refundRecord(of: Stripe.Refund): ProviderRecord {
  const isFailed = of.status === 'failed' || of.status === 'canceled';
  return {
    ...{ kind: 'refund', payment_no: of.metadata?.payment_no ?? '', refund_no: of.metadata?.refund_no ?? '' },
    ...{ trade_no: idOf(of.payment_intent), amount: of.amount, currency: of.currency.toUpperCase() },
    status: of.status === 'succeeded' ? 'succeeded' : isFailed ? 'failed' : 'pending',
    at: new Date(of.created * 1_000),
  };
}

/** The refunds of a payment with this number: the failed ones, and one that has not failed. */
export async function findRefunds(
  client: Stripe,
  { trade_no, refund_no }: Pick<RecordName, 'trade_no' | 'refund_no'>,
): Promise<Stripe.Refund[]> {
  const all = await client.refunds
    .list({ payment_intent: trade_no ?? '', limit: pageSize })
    .autoPagingToArray({ limit: maxRefunds });
  return all.filter(({ metadata }) => metadata?.refund_no === refund_no);
}

/** The successful payments and the refunds of a period, newest first, in pages. */
export async function* listRecords(
  client: Stripe,
  { from, to }: { from: Date; to: Date },
  signal: AbortSignal,
): AsyncGenerator<readonly ProviderRecord[]> {
  const created = { gte: Math.ceil(from.getTime() / 1_000), lt: Math.ceil(to.getTime() / 1_000) };
  const lists = [
    async (after: object) => {
      const { data, has_more } = await client.paymentIntents.list({ created, limit: pageSize, ...after });
      const paid = data.filter(({ status }) => status === 'succeeded').map(intentRecord);
      return { records: paid, last: data.at(-1)?.id, has_more };
    },
    async (after: object) => {
      const { data, has_more } = await client.refunds.list({ created, limit: pageSize, ...after });
      return { records: data.map(refundRecord), last: data.at(-1)?.id, has_more };
    },
  ];
  for (const list of lists) {
    let after: object = {};
    for (let more = true; more; ) {
      signal.throwIfAborted();
      const { records, last, has_more } = await list(after);
      yield records;
      more = has_more && last !== undefined;
      after = { starting_after: last };
    }
  }
}
