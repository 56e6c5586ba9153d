const noSlot = -1;

/** Slots in the order of their last charge: a linked list in the arrays that the caller gives. */
export class ChargeOrder {
  /** The slot whose last charge is the longest ago; -1 when the list is empty. */
  oldest = noSlot;
  newest = noSlot;
  readonly #older: Int32Array;
  readonly #newer: Int32Array;

  /** A slot is in one list at a time, so several lists can share the arrays. */
  constructor(older: Int32Array, newer: Int32Array) {
    this.#older = older;
    this.#newer = newer;
  }

  append(slot: number): void {
    const before = this.newest;
    this.#older[slot] = before;
    this.#newer[slot] = noSlot;
    if (before === noSlot) this.oldest = slot;
    else this.#newer[before] = slot;
    this.newest = slot;
  }

  remove(slot: number): void {
    const before = this.#older[slot]!;
    const after = this.#newer[slot]!;
    if (before === noSlot) this.oldest = after;
    else this.#newer[before] = after;
    if (after === noSlot) this.newest = before;
    else this.#older[after] = before;
  }
}
