import type { Ledger } from './ledger.ts';

export const serviceNames = ['wechat', 'alipay', 'stripe'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** A request as it arrived. `target` is the path below the service, with its query. */
export type Received = { method: string; target: string; headers: Headers; body: string };
export type Answered = { status: number; headers?: Record<string, string>; body: string | Uint8Array };

/** How a notice differs from a correct one. */
export type NoticeOptions = {
  /** The signature is made with a key that the shop does not trust. */
  wrongSignature?: boolean;
  /** Seconds by which the time in the signature is older. */
  age?: number;
  amount?: number;
  currency?: string;
  /** The merchant (WeChat Pay) or app (Alipay) that the notice is for. */
  account?: string;
};
/** A message that a service sends to the shop. */
export type Notice = { url: string; headers: Record<string, string>; body: string };

/** One simulated payment service. */
export type PaymentService = {
  readonly name: ServiceName;
  readonly ledger: Ledger;
  /** Answers a call of the shop. Refuses it in the form of the service when its signature or key is wrong. */
  answer(request: Received): Answered | Promise<Answered>;
  /** The shopper pays at the cashier. */
  pay(paymentNo: string, more?: { amount?: number; currency?: string }): void;
  paymentNotice(paymentNo: string, options?: NoticeOptions): Notice;
  refundNotice(refundNo: string, options?: NoticeOptions): Notice;
  /** The values of the shop settings for this service. Secrets are marked. */
  settings(): readonly { key: string; value: string; secret?: boolean }[];
};
/** The answer of the shop to a notice. */
export type ShopAnswer = { status: number; text: string };
