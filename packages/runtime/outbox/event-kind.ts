import type { Transaction } from '@tradepost/postgres';
import { z } from 'zod';

/** A kind of event. The package whose tables change declares it in `Module.events`. */
// biome-ignore lint/suspicious/noExplicitAny: the facts of all kinds
export type EventKind<Facts = any> = {
  /** What has happened, in the form `order.paid`. Stored rows, webhooks and templates use it. */
  readonly name: string;
  /** What it reports, for operators and the documentation of webhooks. */
  readonly about: string;
  /** The facts: ids, numbers and texts that JSON can represent. Amounts are `minorUnits`. No secrets. */
  readonly data: z.ZodType<Facts>;
  /** Events with the same subject are dispatched in the order in which they were recorded: `order:123`. */
  readonly subject: (facts: Facts) => string;
};

/** A fact that is an amount. Receivers of webhooks get it as a number with two decimals. */
export const minorUnits = (about: string) =>
  z.number().meta({ description: `${about}, in minor units`, minor_units: true });

export const defineEvent = <Facts>(kind: EventKind<Facts>): EventKind<Facts> => kind;

/** A recorded event as its readers get it. */
export type OutboxEvent = {
  /** Grows with time. Unique for ever: a reader that stores it recognises a repeat. */
  readonly id: number;
  readonly name: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly occurred_at: Date;
};

/**
 * Reads events. `read` gets at most 500 events of its kinds in their order, in the transaction that marks them as dispatched:
 * what it writes on `tx` is written exactly once. It makes no network calls; it writes rows or jobs that do.
 */
export type EventReader = {
  /** `messages`, `webhooks`: used in the log. */
  readonly name: string;
  /** The kinds that this reader gets. Null: all. */
  readonly kinds: readonly string[] | null;
  readonly read: (tx: Transaction, events: readonly OutboxEvent[]) => Promise<void>;
};
