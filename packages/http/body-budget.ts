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

/**
 * The bytes of one body while they arrive, within its limit and the budget. One growing buffer: a million one-byte chunks kept as
 * objects would be far more than the limit.
 */
export type BodyBuffer = {
  /** 0, or the status of a refusal: 413 over the limit, 503 without room. The buffer is then empty. */
  add(chunk: Uint8Array): 0 | 413 | 503;
  /** The same for a body of a declared length, before it arrives. */
  check(declared: number): 0 | 413 | 503;
  /** The limit that counted last, in bytes. */
  readonly limit: number;
  /** All bytes; they count as held until `drop`. */
  bytes(): Buffer;
  /** What they take of the budget: more than they are while the buffer has room. */
  readonly held: number;
  /** Gives the memory back. Safe to call twice. */
  drop(): void;
};

const EMPTY: Buffer = Buffer.alloc(0);

/** `limitOf` is asked once, when the body is larger than SMALL_BODY. `declared`: its length, or -1. */
export const openBodyBuffer = (
  budget: BodyBudget,
  { most, limitOf, declared }: { most: number; limitOf: () => number; declared: number },
): BodyBuffer => {
  let buffer = EMPTY;
  let used = 0;
  let limit = Math.min(most, SMALL_BODY);
  let asked = false;

  const replace = (other: Buffer): void => {
    budget.resize(buffer.byteLength, other.byteLength);
    buffer = other;
  };
  const refuse = (status: 413 | 503): 413 | 503 => {
    budget.refused[status === 413 ? 'too_large' : 'no_memory']++;
    replace(EMPTY);
    return status;
  };
  const check = (size: number): 0 | 413 | 503 => {
    if (size > limit && !asked) {
      asked = true;
      limit = Math.min(most, Math.max(limit, limitOf()));
    }
    if (size > limit) return refuse(413);
    return size <= buffer.byteLength || budget.fits(buffer.byteLength, size) ? 0 : refuse(503);
  };
  return {
    check,
    get limit() {
      return limit;
    },
    add(chunk) {
      const size = used + chunk.byteLength;
      const refused = check(size);
      if (refused !== 0) return refused;
      if (used === 0 && size === declared) {
        // All of it at once, as most bodies come: it is read soon, so a place in the shared pool does.
        replace(Buffer.allocUnsafe(size));
      } else if (size > buffer.byteLength) {
        const room = Math.min(declared > 0 ? declared : limit, Math.max(2 * buffer.byteLength, size, 1024));
        const grown = Buffer.allocUnsafeSlow(budget.fits(buffer.byteLength, room) ? room : size);
        grown.set(buffer.subarray(0, used));
        replace(grown);
      }
      buffer.set(chunk, used);
      used = size;
      return 0;
    },
    bytes: () => buffer.subarray(0, used),
    get held() {
      return buffer.byteLength;
    },
    drop: () => replace(EMPTY),
  };
};
