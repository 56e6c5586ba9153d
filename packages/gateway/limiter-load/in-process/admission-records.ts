const firstCapacity = 4_096;
/** 28 bytes each. */
const defaultMaxRecords = 2 ** 23;

/** Copies the records from `first` to `end` into an array of twice the length. */
function doubled<T extends Uint32Array | Float64Array>(from: T, to: T, first: number, end: number): T {
  for (let n = first; n < end; n += 1) to[n & (to.length - 1)] = from[n & (from.length - 1)]!;
  return to;
}

/**
 * Admitted requests in the order of the limiter's clock, in a ring buffer that grows up to `maxRecords` (a power of two).
 * Records are numbered without end; record n is stored at index n modulo the capacity.
 */
export class AdmissionRecords {
  /** Number of the oldest record that is stored. */
  first = 0;
  /** Number that the next record gets. */
  end = 0;
  /** The time of the newest record that was dropped. */
  droppedUpTo = Number.NEGATIVE_INFINITY;
  readonly #maxRecords: number;
  /** The kinds of keys that are stored, as indexes into the keys of a request. */
  readonly #kinds: readonly number[];
  #times: Float64Array;
  #costs: Uint32Array;
  /** Of each stored kind. */
  #keys: Uint32Array[];

  constructor(kinds: readonly number[], maxRecords = defaultMaxRecords) {
    const capacity = Math.min(firstCapacity, maxRecords);
    this.#maxRecords = maxRecords;
    this.#kinds = kinds;
    this.#times = new Float64Array(capacity);
    this.#costs = new Uint32Array(capacity);
    this.#keys = kinds.map(() => new Uint32Array(capacity));
  }

  timeOf(n: number): number {
    return this.#times[n & (this.#times.length - 1)]!;
  }

  costOf(n: number): number {
    return this.#costs[n & (this.#costs.length - 1)]!;
  }

  /** The key of record `n` of the stored kind at `slot`. */
  keyOf(n: number, slot: number): number {
    const keys = this.#keys[slot]!;
    return keys[n & (keys.length - 1)]!;
  }

  /** Makes room for one record: grows, or drops the oldest record before `firstNeeded`. Returns whether there is room. */
  makeRoom(firstNeeded: number): boolean {
    const capacity = this.#times.length;
    if (this.end - this.first < capacity) return true;
    if (capacity * 2 <= this.#maxRecords) this.#grow();
    else if (this.first < firstNeeded) this.dropFirst();
    else return false;
    return true;
  }

  dropFirst(): void {
    this.droppedUpTo = this.timeOf(this.first);
    this.first += 1;
  }

  clear(): void {
    this.first = this.end;
  }

  /** The number that a record of this time gets; null when more than `maxShifts` records, or one before `lowest`, are later. */
  numberFor(at: number, lowest: number, maxShifts: number): number | null {
    let n = this.end;
    while (n > lowest && this.end - n < maxShifts && this.timeOf(n - 1) > at) n -= 1;
    return this.end - n === maxShifts ? null : n;
  }

  /** Stores a request as record `n`. Later records move up by one. There must be room. */
  insert(n: number, at: number, keys: ArrayLike<number>, offset: number, cost: number): void {
    const mask = this.#times.length - 1;
    for (let later = this.end; later > n; later -= 1) {
      this.#times[later & mask] = this.#times[(later - 1) & mask]!;
      this.#costs[later & mask] = this.#costs[(later - 1) & mask]!;
      for (const stored of this.#keys) stored[later & mask] = stored[(later - 1) & mask]!;
    }
    this.end += 1;
    this.#times[n & mask] = at;
    this.#costs[n & mask] = cost;
    for (let slot = 0; slot < this.#kinds.length; slot += 1)
      this.#keys[slot]![n & mask] = keys[offset + this.#kinds[slot]!]!;
  }

  #grow(): void {
    const { first, end } = this;
    const capacity = this.#times.length * 2;
    this.#times = doubled(this.#times, new Float64Array(capacity), first, end);
    this.#costs = doubled(this.#costs, new Uint32Array(capacity), first, end);
    this.#keys = this.#keys.map((stored) => doubled(stored, new Uint32Array(capacity), first, end));
  }
}
