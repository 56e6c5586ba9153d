import { openIdTable } from './id-table.ts';
import { entryBytes, openPackedEntries } from './packed-entries.ts';

/**
 * Exact logs of many keys in typed arrays: per key a queue of (millisecond, requests, tokens). Queues are chains of small
 * segments from one pool instead of rings: nothing is copied when a queue grows, no block is half empty for long, and
 * whatever a dropped key frees fits every other key.
 *
 * A key that was not charged within the window holds nothing that counts and is dropped when met. Keys are linked in the
 * order of their last charge, so the first of the chain is the one that expires first; where memory runs out it is the
 * one that is given up, counted in `evicted`: only then more than the limit can pass.
 */
export type SlidingLogs = {
  /** Keys that were given up while their entries still counted. */
  readonly evicted: number;
  readonly size: number;
  /** The slot of a key, its expired entries gone; -1 when nothing of it counts. Slots are good until the next charge or find. */
  findId(id: number, now: number): number;
  findName(space: NameSpace, name: string, now: number): number;
  requests(slot: number): number;
  tokens(slot: number): number;
  /** When the oldest entry leaves the window. */
  oldestLeaves(slot: number): number;
  /** When so many requests, or tokens, will have left the window; there must be as many. */
  leavesAfterRequests(slot: number, count: number): number;
  leavesAfterTokens(slot: number, tokens: number): number;
  /** Changes when a slot was freed: one that was found before may be another key's. */
  readonly freed: number;
  /** Adds one request of so many tokens to what was just found. `now` is not before any earlier call's. */
  chargeSlot(slot: number, now: number, tokens: number): void;
  /** The same for a key that may have no slot yet; answers it. */
  chargeId(id: number, now: number, tokens: number): number;
  chargeName(space: NameSpace, name: string, now: number, tokens: number): number;
  dropId(id: number): boolean;
  dropName(space: NameSpace, name: string): boolean;
  /** Drops expired keys, at most so many; answers how many. */
  sweep(now: number, most: number): number;
  clear(): number;
};

/** Names of one space are not those of the other. */
export type NameSpace = 0 | 1;

/** Entries of a segment: 60 of them take 8 to 9 segments, a key with one entry wastes 42 bytes. */
const perSegment = 8;
const segmentBytes = perSegment * (2 + entryBytes) + 4;
const slotBytes = 3 * 8 + 2 * 4 + 2 * 4 + 2 + 2 * 4 + 8 + 4 * 4;
/** What a name costs beside its slot: the string and its place in two maps (estimated on the safe side). */
const nameBytes = 250;
const none = -1;
/** What stands for the id of a key that has a name. */
const inSpace = (space: NameSpace) => -1 - space;

/** `bytes` bounds everything; arrays are reserved at once, but pages are only used as keys come. */
export function openSlidingLogs({ bytes, windowMs }: { bytes: number; windowMs: number }): SlidingLogs {
  if (windowMs > 65_535) throw new RangeError('entries keep their distance in 16 bits');
  const slots = Math.max(64, Math.floor((bytes * 0.3) / slotBytes));
  const segments = Math.max(512, Math.floor((bytes * 0.5) / segmentBytes));
  const maxNames = Math.max(32, Math.floor((bytes * 0.1) / nameBytes));

  /** Of an entry: the distance to the one before it; and what it counts. */
  const distance = new Uint16Array(segments * perSegment);
  const entries = openPackedEntries({ count: segments * perSegment, tableBytes: bytes * 0.1 });
  const { requestsAt, tokensAt, release } = entries;
  const nextSegment = new Int32Array(segments);
  let unusedSegments = 0;
  let freeSegment = none;
  let freeSegments = segments;

  const first = new Float64Array(slots);
  const last = new Float64Array(slots);
  const sumTokens = new Float64Array(slots);
  const sumRequests = new Uint32Array(slots);
  const headSegment = new Int32Array(slots);
  const tailSegment = new Int32Array(slots);
  const headAt = new Uint8Array(slots);
  const tailAt = new Uint8Array(slots);
  const older = new Int32Array(slots);
  const newer = new Int32Array(slots);
  const idOf = new Float64Array(slots);
  const nameOf = new Map<number, string>();
  const slotsOfNames = [new Map<string, number>(), new Map<string, number>()] as const;
  let unusedSlots = 0;
  let freeSlot = none;
  let size = 0;
  let evicted = 0;
  let freed = 0;
  // Two chains: names are bounded on their own, as each costs memory outside these arrays.
  const oldest = [none, none];
  const newest = [none, none];

  const slotsOfIds = openIdTable(idOf);

  const unlink = (slot: number, chain: number) => {
    const before = older[slot]!;
    const after = newer[slot]!;
    if (before === none) oldest[chain] = after;
    else newer[before] = after;
    if (after === none) newest[chain] = before;
    else older[after] = before;
  };
  const linkNewest = (slot: number, chain: number) => {
    const before = newest[chain]!;
    older[slot] = before;
    newer[slot] = none;
    if (before === none) oldest[chain] = slot;
    else newer[before] = slot;
    newest[chain] = slot;
  };

  const dropEntries = (slot: number) => {
    const tail = tailSegment[slot]!;
    let count = 1;
    let index = headAt[slot]!;
    for (let segment = headSegment[slot]!; segment !== tail; segment = nextSegment[segment]!) {
      for (; index < perSegment; index += 1) release(segment * perSegment + index);
      index = 0;
      count += 1;
    }
    for (; index <= tailAt[slot]!; index += 1) release(tail * perSegment + index);
    // The whole chain goes to the free ones at once.
    nextSegment[tail] = freeSegment;
    freeSegment = headSegment[slot]!;
    freeSegments += count;
  };
  const drop = (slot: number) => {
    dropEntries(slot);
    const id = idOf[slot]!;
    if (id >= 0) {
      unlink(slot, 0);
      slotsOfIds.remove(slot);
    } else {
      unlink(slot, 1);
      slotsOfNames[id === inSpace(0) ? 0 : 1].delete(nameOf.get(slot)!);
      nameOf.delete(slot);
    }
    newer[slot] = freeSlot;
    freeSlot = slot;
    size -= 1;
    freed += 1;
  };

  const expired = (slot: number, now: number) => last[slot]! + windowMs <= now;
  /** The key that was charged the longest ago goes, expired or not; never `keep`, which is being charged. */
  const giveUp = (now: number, chain = none, keep = none): boolean => {
    const [a, b] = [oldest[0]!, oldest[1]!];
    let slot = a;
    if (chain !== none) slot = oldest[chain]!;
    else if (a === none || a === keep || (b !== none && b !== keep && last[b]! < last[a]!)) slot = b;
    if (slot === none || slot === keep) return false;
    if (!expired(slot, now)) evicted += 1;
    drop(slot);
    return true;
  };
  /** All memory is one key's: its oldest segment goes. */
  const shed = (slot: number) => {
    const gone = headSegment[slot]!;
    let at = first[slot]!;
    for (let index = headAt[slot]!; index < perSegment; index += 1) {
      const place = gone * perSegment + index;
      if (index > headAt[slot]!) at += distance[place]!;
      sumRequests[slot] = sumRequests[slot]! - requestsAt(place);
      sumTokens[slot] = sumTokens[slot]! - tokensAt(place);
      release(place);
    }
    const head = nextSegment[gone]!;
    headSegment[slot] = head;
    headAt[slot] = 0;
    first[slot] = at + distance[head * perSegment]!;
    nextSegment[gone] = freeSegment;
    freeSegment = gone;
    freeSegments += 1;
    evicted += 1;
  };

  const takeSegment = (now: number, keep: number): number => {
    while (freeSegments === 0) if (!giveUp(now, none, keep)) shed(keep);
    freeSegments -= 1;
    if (freeSegment !== none) {
      const taken = freeSegment;
      freeSegment = nextSegment[taken]!;
      return taken;
    }
    unusedSegments += 1;
    return unusedSegments - 1;
  };
  const takeSlot = (now: number): number => {
    if (freeSlot === none && unusedSlots === slots) giveUp(now);
    size += 1;
    if (freeSlot !== none) {
      const taken = freeSlot;
      freeSlot = newer[taken]!;
      return taken;
    }
    unusedSlots += 1;
    return unusedSlots - 1;
  };

  /** Takes expired entries off a key of which some still count. */
  const expire = (slot: number, now: number) => {
    const limit = now - windowMs;
    let at = first[slot]!;
    if (at > limit) return;
    let segment = headSegment[slot]!;
    let index = headAt[slot]!;
    let requests = sumRequests[slot]!;
    let tokens = sumTokens[slot]!;
    while (at <= limit) {
      const place = segment * perSegment + index;
      requests -= requestsAt(place);
      tokens -= tokensAt(place);
      release(place);
      index += 1;
      if (index === perSegment) {
        const gone = segment;
        segment = nextSegment[gone]!;
        nextSegment[gone] = freeSegment;
        freeSegment = gone;
        freeSegments += 1;
        index = 0;
      }
      at += distance[segment * perSegment + index]!;
    }
    first[slot] = at;
    headSegment[slot] = segment;
    headAt[slot] = index;
    sumRequests[slot] = requests;
    sumTokens[slot] = tokens;
  };

  const found = (slot: number, now: number): number => {
    if (slot === none) return none;
    if (expired(slot, now)) {
      drop(slot);
      return none;
    }
    expire(slot, now);
    return slot;
  };

  /** The place of a further entry at the end of a queue. */
  const nextEntry = (slot: number, now: number): number => {
    let segment = tailSegment[slot]!;
    let index = tailAt[slot]! + 1;
    if (index === perSegment) {
      const fresh = takeSegment(now, slot);
      nextSegment[segment] = fresh;
      tailSegment[slot] = fresh;
      segment = fresh;
      index = 0;
    }
    const at = segment * perSegment + index;
    tailAt[slot] = index;
    distance[at] = now - last[slot]!;
    last[slot] = now;
    return at;
  };
  const append = (slot: number, now: number, tokens: number) => {
    let rest = entries.put(nextEntry(slot, now), 1, tokens);
    // What does not fit is a further entry of the same millisecond.
    while (rest > 0) rest = entries.put(nextEntry(slot, now), 0, rest);
  };

  const charge = (slot: number, chain: number, now: number, tokens: number) => {
    // Of the youngest first: while room is made for its entries, this key is the last to be given up.
    if (newest[chain] !== slot) {
      unlink(slot, chain);
      linkNewest(slot, chain);
    }
    if (last[slot] !== now || !entries.add(tailSegment[slot]! * perSegment + tailAt[slot]!, tokens))
      append(slot, now, tokens);
    sumRequests[slot] = sumRequests[slot]! + 1;
    sumTokens[slot] = sumTokens[slot]! + tokens;
  };

  /** A slot whose queue begins with an entry of nothing, to which the charge is added. */
  const create = (now: number): number => {
    const slot = takeSlot(now);
    const segment = takeSegment(now, none);
    headSegment[slot] = segment;
    tailSegment[slot] = segment;
    headAt[slot] = 0;
    tailAt[slot] = 0;
    first[slot] = now;
    last[slot] = now;
    distance[segment * perSegment] = 0;
    entries.put(segment * perSegment, 0, 0);
    sumRequests[slot] = 0;
    sumTokens[slot] = 0;
    return slot;
  };

  /** Walks from the oldest entry until `enough` of what `read` says has been passed. */
  const leavesAfter = (slot: number, enough: number, read: (at: number) => number): number => {
    let when = first[slot]!;
    let segment = headSegment[slot]!;
    let index = headAt[slot]!;
    let passed = 0;
    for (;;) {
      passed += read(segment * perSegment + index);
      if (passed >= enough) return when + windowMs;
      index += 1;
      if (index === perSegment) {
        segment = nextSegment[segment]!;
        index = 0;
      }
      when += distance[segment * perSegment + index]!;
    }
  };

  return {
    get evicted() {
      return evicted;
    },
    get size() {
      return size;
    },
    get freed() {
      return freed;
    },
    findId: (id, now) => found(slotsOfIds.find(id), now),
    findName: (space, name, now) => found(slotsOfNames[space].get(name) ?? none, now),
    requests: (slot) => sumRequests[slot]!,
    tokens: (slot) => sumTokens[slot]!,
    oldestLeaves: (slot) => first[slot]! + windowMs,
    leavesAfterRequests: (slot, count) => leavesAfter(slot, count, requestsAt),
    leavesAfterTokens: (slot, tokens) => leavesAfter(slot, tokens, tokensAt),
    chargeSlot: (slot, now, tokens) => charge(slot, idOf[slot]! >= 0 ? 0 : 1, now, tokens),
    chargeId(id, now, tokens) {
      let slot = found(slotsOfIds.find(id), now);
      if (slot === none) {
        slot = create(now);
        idOf[slot] = id;
        slotsOfIds.add(slot);
        linkNewest(slot, 0);
      }
      charge(slot, 0, now, tokens);
      return slot;
    },
    chargeName(space, name, now, tokens) {
      let slot = found(slotsOfNames[space].get(name) ?? none, now);
      if (slot === none) {
        if (nameOf.size >= maxNames) giveUp(now, 1);
        slot = create(now);
        idOf[slot] = inSpace(space);
        nameOf.set(slot, name);
        slotsOfNames[space].set(name, slot);
        linkNewest(slot, 1);
      }
      charge(slot, 1, now, tokens);
      return slot;
    },
    dropId(id) {
      const slot = slotsOfIds.find(id);
      if (slot !== none) drop(slot);
      return slot !== none;
    },
    dropName(space, name) {
      const slot = slotsOfNames[space].get(name);
      if (slot !== undefined) drop(slot);
      return slot !== undefined;
    },
    sweep(now, most) {
      let dropped = 0;
      for (const chain of [0, 1])
        while (dropped < most && oldest[chain] !== none && expired(oldest[chain]!, now)) {
          drop(oldest[chain]!);
          dropped += 1;
        }
      return dropped;
    },
    clear() {
      const all = size;
      for (const chain of [0, 1]) while (oldest[chain] !== none) drop(oldest[chain]!);
      return all;
    },
  };
}
