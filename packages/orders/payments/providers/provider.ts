import type { Resource, Route } from '@tradepost/http';
import { defineRegistry } from '@tradepost/module';
import type { Runtime, Setting } from '@tradepost/runtime';
import type { PaymentStatus } from '../payment-rules.ts';

/** A refund that a provider is asked for. `refund_no` is its idempotency key. */
export type RefundRequest = {
  refund_no: string;
  payment_no: string;
  trade_no: string;
  amount: number;
  currency: string;
  reason: string;
};
/** `failed`: the provider has refused for good. An unknown outcome is thrown, and asked for again under the same number. */
export type RefundAnswer = { status: 'succeeded'; provider_ref: string } | { status: 'failed'; reason: string };

/** The body of a notice, as POST /api/pay/callback takes it. */
type NoticeBody = {
  provider: string;
  payment_no: string;
  trade_no: string;
  amount: number;
  currency: string;
  status: 'succeeded' | 'failed';
  paid_at?: string | undefined;
};
/** `status` of the payment after the notice; `refunding` where the money came too late or twice. */
export type TakenNotice = { payment_no: string; status: PaymentStatus };
/** Takes a signed notice of a provider; throws the refusal. */
export type ReceiveNotice = (body: NoticeBody, headers: Headers, raw: Uint8Array) => Promise<TakenNotice>;

/** Sends the shopper to a page to pay, and is told of the outcome by a signed notice. */
export type RedirectProvider = {
  /** Throws the refusal that names a missing setting. */
  ready(): void;
  /** Where the shopper pays. `site` is the address under which this request reached us, without a slash at its end. */
  payUrl(payment: { payment_no: string }, site: string): string;
  /** Throws unless the message is the provider's own and recent; returns the nonce that no other message may use. */
  verify(headers: Headers, body: Uint8Array): { nonce: string };
  /** Over the network, so never within a transaction. */
  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundAnswer>;
  /** Routes of its own, such as those of a development cashier. */
  routes?(receive: ReceiveNotice): readonly Route[];
  readonly resources?: readonly Resource[];
};

type Entry = {
  /** The value of `provider` in requests, in the setting pay.provider and in the table of payments. */
  readonly name: string;
  readonly settings?: readonly Setting[];
};
/** Settles the order within the request. Payments of such a provider have no number of their own. */
export type InstantEntry = Entry & { readonly kind: 'instant' };
export type RedirectEntry = Entry & {
  readonly kind: 'redirect';
  /** Called once at start. Settings are read at each call, so a change needs no restart. */
  open(runtime: ProviderRuntime): RedirectProvider;
};
export type ProviderRuntime = Pick<Runtime, 'sql' | 'settings' | 'config' | 'now'>;

/** A way to pay. A module adds one to `paymentProviders`. */
export type PaymentProviderEntry = InstantEntry | RedirectEntry;

export const paymentProviders = defineRegistry<PaymentProviderEntry>('orders.payment_providers', { isStatic: true });
