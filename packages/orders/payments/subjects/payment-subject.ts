import { defineRegistry, defineService } from '@tradepost/module';
import type { Statement, Transaction } from '@tradepost/postgres';

/** Why money for a subject is returned. */
export type SubjectRefusal = 'expired' | 'cancelled' | 'already_paid';

/**
 * What other packages sell without an order, such as a membership. Its payments are opened at the payment providers of the shop, and
 * share their notices, numbers, refunds and commands with those of orders.
 */
export type PaymentSubject = {
  /** The value of `subject` in the table of payments. */
  readonly name: string;
  /** The first letters of the payment numbers, which distinguish notices: three capital letters, not PAY. */
  readonly prefix: string;
  /** Locks these subjects for the notices of a batch, in the transaction of the notices. */
  lock(tx: Transaction, ids: readonly number[], now: Date): Promise<SubjectSession>;
};

/** Locked subjects. `refusal` sees what `pay` noted before. */
export type SubjectSession = {
  /** Why money for the subject must be returned; null when it is paid with it. */
  refusal(id: number): SubjectRefusal | null;
  /** Notes that the subject is paid. */
  pay(id: number): void;
  /** The statements that write what `pay` noted. */
  statements(): Statement[];
};

export const paymentSubjects = defineRegistry<PaymentSubject>('orders.payment_subjects');

/** A payment of a subject, as it is answered to the shopper. */
export type SubjectPayment = { payment_no: string; provider: string; amount: number; currency: string };

/** What the package of a subject needs to sell it. */
export type SubjectPayments = {
  /** Whether a shopper pays within the request, without money. */
  isInstant(): boolean;
  /** The provider of new payments (setting pay.provider). Throws the refusal of a provider that cannot take payments. */
  providerName(): string;
  /** The open payment of a locked subject, or a new one. It can be paid until `expires_at`. Two statements. */
  open(
    tx: Transaction,
    of: {
      subject: Pick<PaymentSubject, 'name' | 'prefix'>;
      id: number;
      provider: string;
      amount: number;
      expires_at: Date;
      now: Date;
    },
  ): Promise<SubjectPayment>;
  /** Closes the open payments of subjects that are locked. */
  close(tx: Transaction, subject: string, ids: readonly number[], now: Date): Promise<void>;
  /** The address where the shopper pays. */
  payUrl(payment: Pick<SubjectPayment, 'payment_no' | 'provider'>, request: Request): string;
};

export const subjectPaymentsService = defineService<SubjectPayments>('orders.subject_payments');
