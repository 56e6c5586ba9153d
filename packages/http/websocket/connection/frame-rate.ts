/** Limits the messages and pings of one socket to `perSecond`. After a pause it admits `perSecond` of them at once. */
export class FrameRate {
  readonly #perSecond: number;
  #allowance: number;
  #countedAt: number;

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#allowance = perSecond;
    this.#countedAt = now;
  }

  /** Counts one frame. False when the peer sends faster than the limit. */
  admit(now: number): boolean {
    const grown = this.#allowance + ((now - this.#countedAt) / 1000) * this.#perSecond;
    this.#allowance = Math.min(this.#perSecond, grown) - 1;
    this.#countedAt = now;
    return this.#allowance >= 0;
  }
}
