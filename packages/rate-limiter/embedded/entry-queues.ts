import { entryBytes, openPackedEntries, type PackedEntries } from './packed-entries.ts';

/** Entries per segment. A queue of 60 entries has 8 or 9 segments. A queue of one entry wastes 35 bytes. */
const perSegment = 8;
export const segmentBytes = perSegment * (2 + entryBytes) + 4;
/** The size of a slot in the arrays of this file. */
export const queueBytes = 3 * 8 + 4 + 2 * 4 + 2;
const noSegment = -1;

export type QueueOptions = {
  slots: number;
  segments: number;
  /** The size of the table for entries that do not fit into 24 bits. */
  tableBytes: number;
  windowMs: number;
  /** Empties the queue of a slot other than `keep`. Returns false when there is no other. */
  makeRoom: (now: number, keep: number) => boolean;
};

/**
 * One queue of entries (millisecond, requests, tokens) per slot, and the sums of each queue. A queue is a chain of small
 * segments from one pool. A queue grows without copying, and the segments of an emptied queue fit every other queue.
 */
export class EntryQueues {
  /** Milliseconds of the oldest and of the newest entry. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly tokens: Float64Array;
  readonly requests: Uint32Array;
  /** The number of segments that were dropped while they still counted, because one queue used all segments. */
  shed = 0;
  readonly #entries: PackedEntries;
  /** The milliseconds between an entry and the entry before it. */
  readonly #distance: Uint16Array;
  readonly #headSegment: Int32Array;
  readonly #tailSegment: Int32Array;
  readonly #headAt: Uint8Array;
  readonly #tailAt: Uint8Array;
  readonly #nextSegment: Int32Array;
  #unusedSegments = 0;
  #freeSegment = noSegment;
  #freeSegments: number;
  readonly #windowMs: number;
  readonly #makeRoom: QueueOptions['makeRoom'];

  constructor({ slots, segments, tableBytes, windowMs, makeRoom }: QueueOptions) {
    this.first = new Float64Array(slots);
    this.last = new Float64Array(slots);
    this.tokens = new Float64Array(slots);
    this.requests = new Uint32Array(slots);
    this.#entries = openPackedEntries({ count: segments * perSegment, tableBytes });
    this.#distance = new Uint16Array(segments * perSegment);
    this.#headSegment = new Int32Array(slots);
    this.#tailSegment = new Int32Array(slots);
    this.#headAt = new Uint8Array(slots);
    this.#tailAt = new Uint8Array(slots);
    this.#nextSegment = new Int32Array(segments);
    this.#freeSegments = segments;
    this.#windowMs = windowMs;
    this.#makeRoom = makeRoom;
  }

  /** Starts the queue of a slot with an empty entry, to which the first charge is added. */
  start(slot: number, now: number): void {
    const segment = this.#takeSegment(now, noSegment);
    this.#headSegment[slot] = segment;
    this.#tailSegment[slot] = segment;
    this.#headAt[slot] = 0;
    this.#tailAt[slot] = 0;
    this.first[slot] = now;
    this.last[slot] = now;
    this.#distance[segment * perSegment] = 0;
    this.#entries.put(segment * perSegment, 0, 0);
    this.requests[slot] = 0;
    this.tokens[slot] = 0;
  }

  /** Adds one request with its tokens. Charges of one millisecond share an entry. */
  charge(slot: number, now: number, tokens: number): void {
    if (
      this.last[slot] !== now ||
      !this.#entries.add(this.#tailSegment[slot]! * perSegment + this.#tailAt[slot]!, tokens)
    ) {
      let rest = this.#entries.put(this.#nextEntry(slot, now), 1, tokens);
      // Tokens that do not fit become a further entry of the same millisecond.
      while (rest > 0) rest = this.#entries.put(this.#nextEntry(slot, now), 0, rest);
    }
    this.requests[slot] = this.requests[slot]! + 1;
    this.tokens[slot] = this.tokens[slot]! + tokens;
  }

  isExpired(slot: number, now: number): boolean {
    return this.last[slot]! + this.#windowMs <= now;
  }

  /** Removes expired entries from a queue in which some entry still counts. */
  expire(slot: number, now: number): void {
    const limit = now - this.#windowMs;
    let at = this.first[slot]!;
    if (at > limit) return;
    const entries = this.#entries;
    let segment = this.#headSegment[slot]!;
    let index = this.#headAt[slot]!;
    let requests = this.requests[slot]!;
    let tokens = this.tokens[slot]!;
    while (at <= limit) {
      const entry = segment * perSegment + index;
      requests -= entries.requestsAt(entry);
      tokens -= entries.tokensAt(entry);
      entries.release(entry);
      index += 1;
      if (index === perSegment) {
        const next = this.#nextSegment[segment]!;
        this.#freeOne(segment);
        segment = next;
        index = 0;
      }
      at += this.#distance[segment * perSegment + index]!;
    }
    this.first[slot] = at;
    this.#headSegment[slot] = segment;
    this.#headAt[slot] = index;
    this.requests[slot] = requests;
    this.tokens[slot] = tokens;
  }

  /** Releases all entries of a queue. */
  empty(slot: number): void {
    const { release } = this.#entries;
    const tail = this.#tailSegment[slot]!;
    let count = 1;
    let index = this.#headAt[slot]!;
    for (let segment = this.#headSegment[slot]!; segment !== tail; segment = this.#nextSegment[segment]!) {
      for (; index < perSegment; index += 1) release(segment * perSegment + index);
      index = 0;
      count += 1;
    }
    for (; index <= this.#tailAt[slot]!; index += 1) release(tail * perSegment + index);
    // Puts the whole chain in front of the free segments.
    this.#nextSegment[tail] = this.#freeSegment;
    this.#freeSegment = this.#headSegment[slot]!;
    this.#freeSegments += count;
  }

  /** The time at which `count` requests have left the window. The queue must have that many. */
  leavesAfterRequests(slot: number, count: number): number {
    return this.#leavesAfter(slot, count, this.#entries.requestsAt);
  }

  leavesAfterTokens(slot: number, tokens: number): number {
    return this.#leavesAfter(slot, tokens, this.#entries.tokensAt);
  }

  /** Walks from the oldest entry until the sum of `read` reaches `enough`. */
  #leavesAfter(slot: number, enough: number, read: (at: number) => number): number {
    let when = this.first[slot]!;
    let segment = this.#headSegment[slot]!;
    let index = this.#headAt[slot]!;
    let passed = 0;
    for (;;) {
      passed += read(segment * perSegment + index);
      if (passed >= enough) return when + this.#windowMs;
      index += 1;
      if (index === perSegment) {
        segment = this.#nextSegment[segment]!;
        index = 0;
      }
      when += this.#distance[segment * perSegment + index]!;
    }
  }

  /** The index of a further entry at the end of a queue. */
  #nextEntry(slot: number, now: number): number {
    let segment = this.#tailSegment[slot]!;
    let index = this.#tailAt[slot]! + 1;
    if (index === perSegment) {
      const fresh = this.#takeSegment(now, slot);
      this.#nextSegment[segment] = fresh;
      this.#tailSegment[slot] = fresh;
      segment = fresh;
      index = 0;
    }
    const at = segment * perSegment + index;
    this.#tailAt[slot] = index;
    this.#distance[at] = now - this.last[slot]!;
    this.last[slot] = now;
    return at;
  }

  #takeSegment(now: number, keep: number): number {
    while (this.#freeSegments === 0) if (!this.#makeRoom(now, keep)) this.#shedOldest(keep);
    this.#freeSegments -= 1;
    if (this.#freeSegment !== noSegment) {
      const taken = this.#freeSegment;
      this.#freeSegment = this.#nextSegment[taken]!;
      return taken;
    }
    this.#unusedSegments += 1;
    return this.#unusedSegments - 1;
  }

  #freeOne(segment: number): void {
    this.#nextSegment[segment] = this.#freeSegment;
    this.#freeSegment = segment;
    this.#freeSegments += 1;
  }

  /** Drops the oldest segment of a queue. Called when one queue has all segments. */
  #shedOldest(slot: number): void {
    const entries = this.#entries;
    const dropped = this.#headSegment[slot]!;
    let at = this.first[slot]!;
    for (let index = this.#headAt[slot]!; index < perSegment; index += 1) {
      const entry = dropped * perSegment + index;
      if (index > this.#headAt[slot]!) at += this.#distance[entry]!;
      this.requests[slot] = this.requests[slot]! - entries.requestsAt(entry);
      this.tokens[slot] = this.tokens[slot]! - entries.tokensAt(entry);
      entries.release(entry);
    }
    const head = this.#nextSegment[dropped]!;
    this.#headSegment[slot] = head;
    this.#headAt[slot] = 0;
    this.first[slot] = at + this.#distance[head * perSegment]!;
    this.#freeOne(dropped);
    this.shed += 1;
  }
}
