export const deliveryStatuses = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** A delivery that this process may send until its claim ends. */
export type Claimed = {
  readonly id: number;
  readonly endpoint_id: number;
  readonly event_id: number;
  readonly body: string;
  /** The number of this attempt, from 1. It is the claim: a later claim has another number. */
  readonly attempts: number;
  /** Attempts before the last replay. */
  readonly attempts_before: number;
};

/** The result of one request. */
export type Attempt = {
  readonly started_at: Date;
  readonly duration_ms: number;
  /** Null: no answer. */
  readonly status: number | null;
  /** Empty for a success. It never has the URL or a secret. */
  readonly error: string;
  /** The start of the answer. */
  readonly answer: string;
  /** The time that the receiver asks for with Retry-After. */
  readonly retryAfterMs: number | null;
};
