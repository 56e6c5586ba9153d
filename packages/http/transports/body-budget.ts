/**
 * Bodies up to this size may use the whole budget, larger ones three quarters of it. It is also the smallest body
 * limit.
 */
export const SMALL_BODY = 16 * 1024;
const LARGE_SHARE = 0.75;

const largePart = (size: number): number => (size > SMALL_BODY ? size : 0);

/**
 * The memory for request bodies of one port: bodies that are being collected, and bodies that wait for their handler.
 * Bytes count when they arrive. A client that declares a large body and sends nothing takes no memory from others.
 */
export type BodyBudget = {
  /** Bytes held now. */
  readonly held: number;
  /** The most bytes that large bodies may hold together. */
  readonly large: number;
  /** Bodies refused so far: above their own limit (`too_large`), or because the budget was used up (`no_memory`). */
  readonly refused: { too_large: number; no_memory: number };
  /** True when a body that holds `from` bytes may grow to `to`. Reserves nothing. */
  fits(from: number, to: number): boolean;
  /** Records a change of the bytes that a body holds, from `from` to `to`. `to` is 0 when its memory is released. */
  resize(from: number, to: number): void;
};

export const openBodyBudget = (total: number): BodyBudget => {
  const refused = { too_large: 0, no_memory: 0 };
  const mostLarge = Math.max(total * LARGE_SHARE, SMALL_BODY);
  let held = 0;
  let large = 0;
  return {
    large: mostLarge,
    get held() {
      return held;
    },
    refused,
    fits: (from, to) => held - from + to <= total && (to <= SMALL_BODY || large - largePart(from) + to <= mostLarge),
    resize(from, to) {
      held += to - from;
      large += largePart(to) - largePart(from);
    },
  };
};

const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Collects the bytes of one body within its limit and the budget. It uses one growing buffer, because a million
 * one-byte chunks as objects would need far more memory than the limit. It is a class, because one is made for every
 * request: closures took 3 us.
 */
export class BodyBuffer {
  /** The limit that was checked last, in bytes. */
  limit: number;
  readonly #budget: BodyBudget;
  readonly #most: number;
  readonly #limitOf: () => number;
  readonly #declared: number;
  #buffer = EMPTY;
  #used = 0;
  #asked = false;

  /**
   * `most` is the limit of the port. `limitOf` is called once, when the body is larger than SMALL_BODY. `declared` is
   * the declared length, or -1.
   */
  constructor(budget: BodyBudget, of: { most: number; limitOf: () => number; declared: number }) {
    this.#budget = budget;
    this.#most = of.most;
    this.#limitOf = of.limitOf;
    this.#declared = of.declared;
    this.limit = Math.min(of.most, SMALL_BODY);
  }

  /** The bytes that count in the budget. They are more than the bytes of the body while the buffer has free room. */
  get held(): number {
    return this.#buffer.byteLength;
  }

  /**
   * Returns 0, or the status of a refusal: 413 above the limit, 503 when the budget is used up. The buffer is then
   * empty.
   */
  add(chunk: Uint8Array): 0 | 413 | 503 {
    const size = this.#used + chunk.byteLength;
    const refused = this.check(size);
    if (refused !== 0) return refused;
    if (this.#used === 0 && size === this.#declared) {
      // The whole body arrived at once, as most bodies do. It is read soon, so memory of Node's shared pool is good
      // enough.
      this.#replace(Buffer.allocUnsafe(size));
    } else if (size > this.#buffer.byteLength) {
      const most = this.#declared > 0 ? this.#declared : this.limit;
      const room = Math.min(most, Math.max(2 * this.#buffer.byteLength, size, 1024));
      const grown = Buffer.allocUnsafeSlow(this.#budget.fits(this.#buffer.byteLength, room) ? room : size);
      grown.set(this.#buffer.subarray(0, this.#used));
      this.#replace(grown);
    }
    this.#buffer.set(chunk, this.#used);
    this.#used = size;
    return 0;
  }

  /** The same check for a declared length, before the body arrives. */
  check(size: number): 0 | 413 | 503 {
    if (size > this.limit && !this.#asked) {
      this.#asked = true;
      this.limit = Math.min(this.#most, Math.max(this.limit, this.#limitOf()));
    }
    if (size > this.limit) return this.#refuse(413);
    const held = this.#buffer.byteLength;
    return size <= held || this.#budget.fits(held, size) ? 0 : this.#refuse(503);
  }

  /** All bytes. They count in the budget until `drop`. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#used);
  }

  /** Releases the memory. It may be called twice. */
  drop(): void {
    this.#replace(EMPTY);
  }

  #replace(other: Buffer): void {
    this.#budget.resize(this.#buffer.byteLength, other.byteLength);
    this.#buffer = other;
  }

  #refuse(status: 413 | 503): 413 | 503 {
    this.#budget.refused[status === 413 ? 'too_large' : 'no_memory']++;
    this.#replace(EMPTY);
    return status;
  }
}
