/** The shop said no: by a rule (`status` 200), for want of a token (401) or for a fault of the request (4xx) or its own (5xx). */
export class RefusalError extends Error {
  override name = 'RefusalError';
  /** Envelope code: 401, 10002, 20001, ... */
  readonly code: number;
  /** HTTP status. */
  readonly status: number;
  readonly method: string;
  readonly path: string;
  /** Id of the request in the shop's log. */
  readonly requestId: string;

  constructor(
    message: string,
    facts: { code: number; status: number; method: string; path: string; requestId: string },
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
 * There is no answer of the shop. unreachable: nobody answered. timeout: not in time. aborted: the caller's own signal.
 * not_an_envelope: somebody else answered, a proxy's error page for example. A write may have taken effect all the same.
 */
export type NoAnswerReason = 'unreachable' | 'timeout' | 'aborted' | 'not_an_envelope';
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
  readonly reason: NoAnswerReason;
  /** HTTP status, where there was one. */
  readonly status: number | null;

  constructor(reason: NoAnswerReason, message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.status = options.status ?? null;
  }
}
