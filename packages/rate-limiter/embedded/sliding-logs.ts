import { ChargeOrder } from './charge-order.ts';
import { EntryQueues, queueBytes, segmentBytes } from './entry-queues.ts';
import { type IdTable, openIdTable } from './id-table.ts';

/** The two name spaces: addresses and models. The same name in both is two keys. */
export type NameSpace = 0 | 1;

/** The size of a slot: its queue, two links of the list of charges, an id, and the largest share of the id table. */
const slotBytes = queueBytes + 2 * 4 + 8 + 5 * 4;
/** The size of a name without its slot: the string and its entries in two maps. A cautious estimate. */
const nameBytes = 250;
const noSlot = -1;
/** The value that is stored as the id of a key that has a name. */
const inSpace = (space: NameSpace) => -1 - space;

/**
 * Exact logs of many keys in typed arrays: one queue of (millisecond, requests, tokens) per key.
 *
 * A key that was not charged within the window is dropped when it is found. Keys are linked in the order of their last
 * charge, so the first key of the list expires first. When memory is full, that key is dropped before it expires, and
 * `evicted` counts it. Only then can more than the limit pass.
 */
export class SlidingLogs {
  /** The number of keys. */
  size = 0;
  /** Changes when a slot is freed. A slot that was found before may then belong to another key. */
  freed = 0;
  #evicted = 0;
  readonly #slots: number;
  readonly #maxNames: number;
  readonly #windowMs: number;
  readonly #queues: EntryQueues;
  readonly #idOf: Float64Array;
  readonly #slotsOfIds: IdTable;
  readonly #nameOf = new Map<number, string>();
  readonly #slotsOfNames = [new Map<string, number>(), new Map<string, number>()] as const;
  /** Two lists: names are bounded on their own, as each costs memory outside the arrays. */
  readonly #ids: ChargeOrder;
  readonly #names: ChargeOrder;
  /** Of a free slot: the next free one. */
  readonly #nextFree: Int32Array;
  #freeSlot = noSlot;
  #unusedSlots = 0;

  /** `bytes` limits all memory. The arrays are allocated at once, and their pages are used as keys arrive. */
  constructor({ bytes, windowMs }: { bytes: number; windowMs: number }) {
    if (windowMs > 65_535) throw new RangeError('entries keep their distance in 16 bits');
    this.#slots = Math.max(64, Math.floor((bytes * 0.3) / slotBytes));
    this.#maxNames = Math.max(32, Math.floor((bytes * 0.1) / nameBytes));
    this.#windowMs = windowMs;
    this.#queues = new EntryQueues({
      slots: this.#slots,
      segments: Math.max(512, Math.floor((bytes * 0.5) / segmentBytes)),
      tableBytes: bytes * 0.1,
      windowMs,
      makeRoom: (now, keep) => this.#evictOldest(now, keep),
    });
    this.#idOf = new Float64Array(this.#slots);
    this.#slotsOfIds = openIdTable(this.#idOf);
    const older = new Int32Array(this.#slots);
    const newer = new Int32Array(this.#slots);
    this.#ids = new ChargeOrder(older, newer);
    this.#names = new ChargeOrder(older, newer);
    this.#nextFree = newer;
  }

  /** Keys and parts of keys that were dropped while their entries still counted. */
  get evicted(): number {
    return this.#evicted + this.#queues.shed;
  }

  /** The slot of a key, without its expired entries; -1 when no entry counts. A slot is valid until the next charge or find. */
  findId(id: number, now: number): number {
    return this.#counting(this.#slotsOfIds.find(id), now);
  }

  findName(space: NameSpace, name: string, now: number): number {
    return this.#counting(this.#slotsOfNames[space].get(name) ?? noSlot, now);
  }

  requests(slot: number): number {
    return this.#queues.requests[slot]!;
  }

  tokens(slot: number): number {
    return this.#queues.tokens[slot]!;
  }

  /** The time at which the oldest entry leaves the window. */
  oldestLeaves(slot: number): number {
    return this.#queues.first[slot]! + this.#windowMs;
  }

  /** The time at which `count` requests have left the window. The log must have that many. */
  leavesAfterRequests(slot: number, count: number): number {
    return this.#queues.leavesAfterRequests(slot, count);
  }

  leavesAfterTokens(slot: number, tokens: number): number {
    return this.#queues.leavesAfterTokens(slot, tokens);
  }

  /** Adds one request with its tokens to a slot that was just found. `now` must not be before the time of an earlier call. */
  chargeSlot(slot: number, now: number, tokens: number): void {
    this.#charge(slot, this.#orderOf(slot), now, tokens);
  }

  /** Adds one request to a key that may have no slot yet. Returns its slot. */
  chargeId(id: number, now: number, tokens: number): number {
    let slot = this.#counting(this.#slotsOfIds.find(id), now);
    if (slot === noSlot) {
      slot = this.#create(now);
      this.#idOf[slot] = id;
      this.#slotsOfIds.add(slot);
      this.#ids.append(slot);
    }
    this.#charge(slot, this.#ids, now, tokens);
    return slot;
  }

  chargeName(space: NameSpace, name: string, now: number, tokens: number): number {
    let slot = this.#counting(this.#slotsOfNames[space].get(name) ?? noSlot, now);
    if (slot === noSlot) {
      if (this.#nameOf.size >= this.#maxNames) this.#evict(this.#names.oldest, now);
      slot = this.#create(now);
      this.#idOf[slot] = inSpace(space);
      this.#nameOf.set(slot, name);
      this.#slotsOfNames[space].set(name, slot);
      this.#names.append(slot);
    }
    this.#charge(slot, this.#names, now, tokens);
    return slot;
  }

  dropId(id: number): boolean {
    const slot = this.#slotsOfIds.find(id);
    if (slot !== noSlot) this.#drop(slot);
    return slot !== noSlot;
  }

  dropName(space: NameSpace, name: string): boolean {
    const slot = this.#slotsOfNames[space].get(name);
    if (slot !== undefined) this.#drop(slot);
    return slot !== undefined;
  }

  /** Drops at most `most` expired keys. Returns how many it dropped. */
  sweep(now: number, most: number): number {
    let dropped = 0;
    for (const order of [this.#ids, this.#names])
      while (dropped < most && order.oldest !== noSlot && this.#queues.isExpired(order.oldest, now)) {
        this.#drop(order.oldest);
        dropped += 1;
      }
    return dropped;
  }

  /** Drops all keys. Returns how many it dropped. */
  clear(): number {
    const all = this.size;
    for (const order of [this.#ids, this.#names]) while (order.oldest !== noSlot) this.#drop(order.oldest);
    return all;
  }

  #orderOf(slot: number): ChargeOrder {
    return this.#idOf[slot]! >= 0 ? this.#ids : this.#names;
  }

  /** The slot when an entry counts, otherwise -1. Removes expired entries. */
  #counting(slot: number, now: number): number {
    if (slot === noSlot) return noSlot;
    if (this.#queues.isExpired(slot, now)) {
      this.#drop(slot);
      return noSlot;
    }
    this.#queues.expire(slot, now);
    return slot;
  }

  #charge(slot: number, order: ChargeOrder, now: number, tokens: number): void {
    // The key moves to the end of the list first, so that it is the last to be evicted for its own entries.
    if (order.newest !== slot) {
      order.remove(slot);
      order.append(slot);
    }
    this.#queues.charge(slot, now, tokens);
  }

  #create(now: number): number {
    const slot = this.#takeSlot(now);
    this.#queues.start(slot, now);
    return slot;
  }

  #takeSlot(now: number): number {
    if (this.#freeSlot === noSlot && this.#unusedSlots === this.#slots) this.#evictOldest(now, noSlot);
    this.size += 1;
    if (this.#freeSlot !== noSlot) {
      const taken = this.#freeSlot;
      this.#freeSlot = this.#nextFree[taken]!;
      return taken;
    }
    this.#unusedSlots += 1;
    return this.#unusedSlots - 1;
  }

  #drop(slot: number): void {
    this.#queues.empty(slot);
    const id = this.#idOf[slot]!;
    if (id >= 0) {
      this.#ids.remove(slot);
      this.#slotsOfIds.remove(slot);
    } else {
      this.#names.remove(slot);
      this.#slotsOfNames[id === inSpace(0) ? 0 : 1].delete(this.#nameOf.get(slot)!);
      this.#nameOf.delete(slot);
    }
    this.#nextFree[slot] = this.#freeSlot;
    this.#freeSlot = slot;
    this.size -= 1;
    this.freed += 1;
  }

  /** Drops the key that was charged the longest ago, but not `keep`, which is being charged. False when there is no other key. */
  #evictOldest(now: number, keep: number): boolean {
    const id = this.#ids.oldest;
    const name = this.#names.oldest;
    const { last } = this.#queues;
    const byName = id === noSlot || id === keep || (name !== noSlot && name !== keep && last[name]! < last[id]!);
    const slot = byName ? name : id;
    if (slot === noSlot || slot === keep) return false;
    this.#evict(slot, now);
    return true;
  }

  #evict(slot: number, now: number): void {
    if (slot === noSlot) return;
    if (!this.#queues.isExpired(slot, now)) this.#evicted += 1;
    this.#drop(slot);
  }
}
