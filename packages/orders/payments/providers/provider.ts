/** Who can be paid through. `instant` settles within the request; the others send the shopper away and notify us later. */
export const paymentProviderNames = ['sandbox', 'instant'] as const;
export type PaymentProviderName = (typeof paymentProviderNames)[number];

/** What a provider is asked to pay back. `refund_no` is its idempotency key. */
export type RefundRequest = {
  refund_no: string;
  payment_no: string;
  trade_no: string;
  amount: number;
  currency: string;
  reason: string;
};
/** `failed` is the provider's final no. What is not known is thrown, and asked again under the same number. */
export type RefundAnswer = { status: 'succeeded'; provider_ref: string } | { status: 'failed'; reason: string };

type InstantProvider = { readonly kind: 'instant'; readonly name: PaymentProviderName };

export type RedirectProvider = {
  readonly kind: 'redirect';
  readonly name: PaymentProviderName;
  /** Throws the refusal that says what is missing in the settings. */
  ready(): void;
  /** Where the shopper pays. `site` is the address under which this request reached us, without a slash at its end. */
  payUrl(payment: { payment_no: string }, site: string): string;
  /** Throws unless the message is the provider's own and fresh; answers the nonce it may not be used with again. */
  verify(headers: Headers, body: Uint8Array): { nonce: string };
  /** Over the network, so never within a transaction. */
  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundAnswer>;
};

export type PaymentProviders = { readonly instant: InstantProvider; readonly sandbox: RedirectProvider };
