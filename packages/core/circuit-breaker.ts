export type CircuitState = 'closed' | 'open' | 'half-open';

export type CircuitBreakerOptions = {
  /** The circuit opens after this many failures in a row. */
  failuresToOpen: number;
  /** The pause after the first opening. It doubles with each trial call that fails, up to `longestPauseMs`. */
  firstPauseMs: number;
  longestPauseMs: number;
};

/**
 * A circuit breaker: after failures in a row, no calls are made for a pause. Then one trial call decides.
 *
 * ```
 *          failures in a row             the pause is over
 *  closed ------------------> open ---------------------------> half-open: one trial call at a time
 *                              ^        the trial fails             | the trial succeeds
 *                              +------------------------------------+--> closed
 * ```
 *
 * It makes no calls itself and has no timer. The caller asks `allows`, reports with `begin`, and reports the result. Times are
 * milliseconds of one monotonic clock, which the caller reads.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #pauseMs = 0;
  #open = false;
  #openUntil = Number.NEGATIVE_INFINITY;
  #trialRuns = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  state(now: number): CircuitState {
    if (!this.#open) return 'closed';
    return now < this.#openUntil ? 'open' : 'half-open';
  }

  /** The rest of the pause; 0 when the circuit is closed or half-open. */
  pauseLeftMs(now: number): number {
    return this.#open ? Math.max(0, Math.round(this.#openUntil - now)) : 0;
  }

  /** Whether a call may be made now. In a half-open circuit only while no trial call runs. */
  allows(now: number): boolean {
    return !this.#open || (now >= this.#openUntil && !this.#trialRuns);
  }

  /** Reports that a call begins. Returns whether it is the trial call of a half-open circuit. */
  begin(now: number): boolean {
    if (!this.#open || now < this.#openUntil) return false;
    this.#trialRuns = true;
    return true;
  }

  /** Reports a success: the circuit closes. Returns whether it was open or half-open. */
  succeed(): boolean {
    const wasOpen = this.#open;
    this.close();
    this.#failures = 0;
    this.#pauseMs = 0;
    return wasOpen;
  }

  /** Closes the circuit, but keeps the count of failures: the call answers, and can still fail before its end. */
  close(): void {
    this.#open = false;
    this.#trialRuns = false;
  }

  /**
   * Reports a failure. While the circuit is open, only the failure of a trial call starts a new, longer pause: calls that
   * began before the opening say nothing new. A caller that does not know which call was the trial omits `isTrial`. Then
   * a failure counts as the trial's when a trial runs or the pause is over.
   */
  fail(now: number, isTrial: boolean = this.#trialRuns || now >= this.#openUntil): void {
    const { failuresToOpen, firstPauseMs, longestPauseMs } = this.#options;
    this.#failures += 1;
    if (isTrial) this.#trialRuns = false;
    if (this.#open ? !isTrial : this.#failures < failuresToOpen) return;
    this.#open = true;
    this.#pauseMs = Math.min(Math.max(firstPauseMs, this.#pauseMs * 2), longestPauseMs);
    this.#openUntil = now + this.#pauseMs;
  }

  /** Opens the circuit for a time that the other side asks for, at most `longestPauseMs`. This is not a failure. */
  pause(now: number, ms: number): void {
    this.close();
    this.#failures = 0;
    this.#pauseMs = 0;
    this.#open = true;
    this.#openUntil = Math.max(this.#openUntil, now + Math.min(Math.max(ms, 0), this.#options.longestPauseMs));
  }

  /** Reports that the trial call ended without a result, so that the next call is the trial. */
  abandonTrial(): void {
    this.#trialRuns = false;
  }
}
