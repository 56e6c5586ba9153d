import type { Resource, Route } from '@tradepost/http';
import { defineRegistry } from '@tradepost/module';
import type { Runtime, Setting } from '@tradepost/runtime';
import type { PaymentStatus } from '../payment-rules.ts';

/** A request to a provider for a refund. `refund_no` is the idempotency key. */
export type RefundRequest = {
  refund_no: string;
  payment_no: string;
  trade_no: string;
  amount: number;
  currency: string;
  reason: string;
};
/** `failed` is a final refusal of the provider. An unknown outcome is thrown, and the request is repeated with the same number. */
export type RefundAnswer = { status: 'succeeded'; provider_ref: string } | { status: 'failed'; reason: string };

/** The body of a notice, as it is sent to POST /api/pay/callback. */
type NoticeBody = {
  provider: string;
  payment_no: string;
  trade_no: string;
  amount: number;
  currency: string;
  status: 'succeeded' | 'failed';
  paid_at?: string | undefined;
};
/** `status` is the status of the payment after the notice: `refunding` when the money was late or paid twice. */
export type NoticeAnswer = { payment_no: string; status: PaymentStatus };
/** Processes a signed notice of a provider. Throws a refusal. */
export type ReceiveNotice = (body: NoticeBody, headers: Headers, raw: Uint8Array) => Promise<NoticeAnswer>;

/** A provider that sends the shopper to its own page and reports the outcome in a signed notice. */
export type RedirectProvider = {
  /** Throws a refusal with the name of the setting when a required setting is missing. */
  ready(): void;
  /** The address where the shopper pays. `site` is the public address of the shop, without a slash at its end. */
  payUrl(payment: { payment_no: string }, site: string): string;
  /** Throws unless the provider signed the message recently. Returns the nonce, which no other message may use. */
  verify(headers: Headers, body: Uint8Array): { nonce: string };
  /** Calls the provider over the network, so it must not run within a transaction. */
  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundAnswer>;
  /** Additional routes, such as the route of a development cashier. */
  routes?(receive: ReceiveNotice): readonly Route[];
  readonly resources?: readonly Resource[];
};

type Entry = {
  /** The value of `provider` in requests, in the setting pay.provider and in the table of payments. */
  readonly name: string;
  readonly settings?: readonly Setting[];
};
/** A provider that pays the order within the request. Its payments have no `payment_no`. */
export type InstantEntry = Entry & { readonly kind: 'instant' };
export type RedirectEntry = Entry & {
  readonly kind: 'redirect';
  /** Called once at start. The provider reads its settings at each call, so a change needs no restart. */
  open(runtime: ProviderRuntime): RedirectProvider;
};
export type ProviderRuntime = Pick<Runtime, 'sql' | 'settings' | 'config' | 'now'>;

/** A payment provider. Modules add entries to `paymentProviders`. */
export type PaymentProviderEntry = InstantEntry | RedirectEntry;

export const paymentProviders = defineRegistry<PaymentProviderEntry>('orders.payment_providers', { isStatic: true });
