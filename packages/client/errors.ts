import type { components } from './schema.ts';

/** The codes that a refusal can have. A later release of the shop can add codes. */
export type RefusalCode = components['schemas']['Refusal']['code'];

/**
 * The shop refused the request. `status` shows why: a rule of the shop (200), no valid token (401), a fault of the request
 * (4xx) or a fault of the shop (5xx).
 */
export class RefusalError extends Error {
  override name = 'RefusalError';
  /** Envelope code: 401, 10002, 20001, ... */
  readonly code: RefusalCode;
  /** HTTP status. */
  readonly status: number;
  readonly method: string;
  readonly path: string;
  /** Id of the request in the shop's log. */
  readonly requestId: string;

  constructor(
    message: string,
    facts: { code: RefusalCode; status: number; method: string; path: string; requestId: string },
  ) {
    super(message);
    this.code = facts.code;
    this.status = facts.status;
    this.method = facts.method;
    this.path = facts.path;
    this.requestId = facts.requestId;
  }
}

/**
 * The shop did not answer. unreachable: no connection. timeout: no answer in time. aborted: the caller's signal.
 * not_an_envelope: the answer is not of the shop, for example an error page of a proxy. A write may have taken effect
 * in all cases.
 */
export type NoAnswerReason = 'unreachable' | 'timeout' | 'aborted' | 'not_an_envelope';
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
  readonly reason: NoAnswerReason;
  /** The HTTP status, if there was an answer. */
  readonly status: number | null;

  constructor(reason: NoAnswerReason, message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.status = options.status ?? null;
  }
}
