import type { Resource, Route } from '@tradepost/http';
import { defineRegistry } from '@tradepost/module';
import type { Runtime, Setting } from '@tradepost/runtime';
import type { PaymentStatus, StoredAction } from '../payment-rules.ts';

/** A request to a provider for a refund. `refund_no` is the idempotency key. Amounts are in minor units. */
export type RefundRequest = {
  refund_no: string;
  payment_no: string;
  trade_no: string;
  amount: number;
  /** The amount of the whole payment. */
  payment_amount: number;
  currency: string;
  reason: string;
};
/**
 * `pending`: the provider has accepted the refund and carries it out later. Its notice settles it; without a notice, the request is
 * repeated with the same number. `failed` is a final refusal. An unknown outcome is thrown, and the request is repeated.
 */
export type RefundAnswer =
  | { status: 'succeeded'; provider_ref: string }
  | { status: 'pending'; provider_ref: string }
  | { status: 'failed'; reason: string };

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

/** What a provider reports about a payment. The provider has verified that the report is genuine. */
export type PaymentReport = {
  payment_no: string;
  trade_no: string;
  /** In minor units. */
  amount: number;
  currency: string;
  status: 'succeeded' | 'failed';
  paid_at: Date | null;
};
/** What a provider reports about a refund. The provider has verified that the report is genuine. */
export type RefundReport = {
  refund_no: string;
  /** In minor units. */
  amount: number;
  currency: string;
  status: 'succeeded' | 'failed';
  provider_ref: string;
  /** Why it failed. */
  reason: string;
};
/** Where the endpoints of a provider deliver what they have verified. Both throw a refusal, and may be called again. */
export type NoticeReceivers = {
  payment(report: PaymentReport): Promise<NoticeAnswer>;
  refund(report: RefundReport): Promise<void>;
  /** Logs a notice that was refused, at most once in a while. */
  refused(error: unknown): void;
};

/** A payment that the shop opens at a provider. */
export type OpeningPayment = {
  payment_no: string;
  /** What is paid, in the language of the shop. The provider shortens it to its limit. */
  title: string;
  amount: number;
  currency: string;
  channel: string;
  /** What the channel needs of the client, such as `openid`. */
  params: Readonly<Record<string, string>>;
  return_url: string;
  expires_at: Date;
  client_address: string;
};
/** How the shopper pays an opened payment. */
export type PayAction = StoredAction & {
  /** The payment has to be opened again afterwards; null: never. */
  valid_until: Date | null;
};

/** A payment or refund as the provider has it. */
export type ProviderRecord = {
  kind: 'payment' | 'refund';
  payment_no: string;
  /** Empty for a payment, and for a refund that the shop did not request. */
  refund_no: string;
  trade_no: string;
  /** In minor units. */
  amount: number;
  currency: string;
  status: 'succeeded' | 'pending' | 'failed';
  at: Date;
};
/** Names a payment, or with `refund_no` a refund. */
export type RecordName = { payment_no: string; trade_no: string | null; provider_ref: string; refund_no?: string };

/** A provider at which the shopper pays, and which reports the outcome in a signed notice. */
export type RedirectProvider = {
  /** Throws a refusal with the name of the setting when a required setting is missing. */
  ready(): void;
  /**
   * The address where the shopper pays, for a provider that needs no call to open a payment. `site` is the public address of the
   * shop, without a slash at its end.
   */
  payUrl?(payment: { payment_no: string }, site: string): string;
  /**
   * Opens the payment at the provider. Calls over the network, so it must not run within a transaction. Called again with the same
   * number when the client asks again; it must not make a second payment that both can be paid.
   */
  begin?(payment: OpeningPayment, site: string, signal: AbortSignal): Promise<PayAction>;
  /**
   * For a provider whose notices have the form of POST /api/pay/callback. Throws unless the provider signed the message recently.
   * Returns the nonce, which no other message may use.
   */
  verify?(headers: Headers, body: Uint8Array): { nonce: string };
  /** For a provider with notices of its own form: the endpoints that receive them. */
  notices?(receivers: NoticeReceivers): readonly Resource[];
  /** Calls the provider over the network, so it must not run within a transaction. */
  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundAnswer>;
  /** Asks for one payment or refund. Null when the provider does not know it. */
  find?(name: RecordName, signal: AbortSignal): Promise<ProviderRecord | null>;
  /** Makes an unpaid payment impossible to pay. Succeeds when it is closed or unknown already. */
  close?(name: RecordName, signal: AbortSignal): Promise<void>;
  /** The payments and refunds of a period, in pages, for reconciliation. */
  records?(period: { from: Date; to: Date }, signal: AbortSignal): AsyncIterable<readonly ProviderRecord[]>;
  /** Additional routes, such as the route of a development cashier. */
  routes?(receive: ReceiveNotice): readonly Route[];
  readonly resources?: readonly Resource[];
  /** Closes connections. */
  stop?(): Promise<void>;
};

type Entry = {
  /** The value of `provider` in requests, in the setting pay.provider and in the table of payments. */
  readonly name: string;
  /** Its settings, where its module does not list them. */
  readonly settings?: readonly Setting[];
};
/** A provider that pays the order within the request. Its payments have no `payment_no`. */
export type InstantEntry = Entry & { readonly kind: 'instant' };
export type RedirectEntry = Entry & {
  readonly kind: 'redirect';
  /** The payment methods of orders that it serves (`definePaymentMethod`). Their orders are paid here once it is set up. */
  readonly methods?: readonly string[];
  /** The settings of its account. Payments are refused while one is empty, and `doctor` finds an account that is set up in part. */
  readonly account?: readonly Setting<string>[];
  /** The ways to pay at the provider, the default first. */
  readonly channels?: readonly string[];
  /** Called once at start. The provider reads its settings at each call, so a change needs no restart. */
  open(runtime: ProviderRuntime): RedirectProvider;
};
export type ProviderRuntime = Pick<Runtime, 'sql' | 'settings' | 'config' | 'now'>;

/** A payment provider. Modules add entries to `paymentProviders`. */
export type PaymentProviderEntry = InstantEntry | RedirectEntry;

export const paymentProviders = defineRegistry<PaymentProviderEntry>('orders.payment_providers', { isStatic: true });
