/** Bodies up to this size may use all of the budget, larger ones three quarters of it. It is also the smallest body limit. */
export const SMALL_BODY = 16 * 1024;
const LARGE_SHARE = 0.75;

const largePart = (size: number): number => (size > SMALL_BODY ? size : 0);

/**
 * The memory for request bodies of one port: what is being collected, and what waits for its handler to read it. Bytes are counted
 * as they arrive, not as they are declared, so an empty promise of a large body takes nothing from others.
 */
export type BodyBudget = {
  /** Bytes held now. */
  readonly held: number;
  /** Bodies refused so far: by their own limit, and because the budget was used up. */
  readonly refused: { too_large: number; no_memory: number };
  /** Whether a body that holds `from` bytes may hold `to`. Takes nothing. */
  fits(from: number, to: number): boolean;
  /** A body that held `from` bytes holds `to`; 0 when it is gone. */
  resize(from: number, to: number): void;
};

export const openBodyBudget = (total: number): BodyBudget => {
  const refused = { too_large: 0, no_memory: 0 };
  let held = 0;
  let large = 0;
  return {
    get held() {
      return held;
    },
    refused,
    fits: (from, to) =>
      held - from + to <= total &&
      (to <= SMALL_BODY || large - largePart(from) + to <= Math.max(total * LARGE_SHARE, SMALL_BODY)),
    resize(from, to) {
      held += to - from;
      large += largePart(to) - largePart(from);
    },
  };
};

const EMPTY: Buffer = Buffer.alloc(0);

/**
 * The bytes of one body while they arrive, within its limit and the budget. One growing buffer: a million one-byte chunks kept as
 * objects would be far more than the limit. A class, as one is made for every request: closures took 3 us.
 */
export class BodyBuffer {
  /** The limit that counted last, in bytes. */
  limit: number;
  readonly #budget: BodyBudget;
  readonly #most: number;
  readonly #limitOf: () => number;
  readonly #declared: number;
  #buffer = EMPTY;
  #used = 0;
  #asked = false;

  /** `most`: the port's ceiling. `limitOf` is asked once, when the body is larger than SMALL_BODY. `declared`: its length, or -1. */
  constructor(budget: BodyBudget, of: { most: number; limitOf: () => number; declared: number }) {
    this.#budget = budget;
    this.#most = of.most;
    this.#limitOf = of.limitOf;
    this.#declared = of.declared;
    this.limit = Math.min(of.most, SMALL_BODY);
  }

  /** What the body takes of the budget: more than its bytes while the buffer has room. */
  get held(): number {
    return this.#buffer.byteLength;
  }

  /** 0, or the status of a refusal: 413 over the limit, 503 without room. The buffer is then empty. */
  add(chunk: Uint8Array): 0 | 413 | 503 {
    const size = this.#used + chunk.byteLength;
    const refused = this.check(size);
    if (refused !== 0) return refused;
    if (this.#used === 0 && size === this.#declared) {
      // All of it at once, as most bodies come: it is read soon, so a place in the shared pool does.
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

  /** The same for a body of a declared length, before it arrives. */
  check(size: number): 0 | 413 | 503 {
    if (size > this.limit && !this.#asked) {
      this.#asked = true;
      this.limit = Math.min(this.#most, Math.max(this.limit, this.#limitOf()));
    }
    if (size > this.limit) return this.#refuse(413);
    const held = this.#buffer.byteLength;
    return size <= held || this.#budget.fits(held, size) ? 0 : this.#refuse(503);
  }

  /** All bytes; they count as held until `drop`. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#used);
  }

  /** Gives the memory back. Safe to call twice. */
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
