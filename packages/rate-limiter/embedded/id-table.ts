/** Finds slots by id. A hash table with open addressing in one array, at most half full, which grows with the slots. */
export type IdTable = {
  /** The slot of an id; -1 when the id has no slot. */
  find(id: number): number;
  /** Adds a slot. Its id must not be in the table. */
  add(slot: number): void;
  remove(slot: number): void;
};

/** `idOf`: the id of each slot. It must not change while the slot is in the table. */
export function openIdTable(idOf: Float64Array): IdTable {
  /** A slot plus one; 0 is empty. */
  let table = new Int32Array(1024);
  let mask = table.length - 1;
  let size = 0;

  const homeOf = (id: number) => {
    let h = Math.imul((id >>> 0) ^ Math.imul((id / 4_294_967_296) | 0, 0x9e3779b1), 0x85ebca6b);
    h ^= h >>> 15;
    h = Math.imul(h, 0xc2b2ae35);
    return (h ^ (h >>> 13)) & mask;
  };
  const put = (slot: number) => {
    let at = homeOf(idOf[slot]!);
    while (table[at] !== 0) at = (at + 1) & mask;
    table[at] = slot + 1;
  };

  return {
    find(id) {
      for (let at = homeOf(id); ; at = (at + 1) & mask) {
        const slot = table[at]! - 1;
        if (slot === -1 || idOf[slot] === id) return slot;
      }
    },
    add(slot) {
      size += 1;
      if (size * 2 > table.length) {
        const before = table;
        table = new Int32Array(before.length * 2);
        mask = table.length - 1;
        for (const entry of before) if (entry !== 0) put(entry - 1);
      }
      put(slot);
    },
    remove(slot) {
      size -= 1;
      let hole = homeOf(idOf[slot]!);
      while (table[hole] !== slot + 1) hole = (hole + 1) & mask;
      // A following entry moves into the hole when its search passes the hole, so that no search ends too early.
      for (let at = (hole + 1) & mask; table[at] !== 0; at = (at + 1) & mask) {
        const home = homeOf(idOf[table[at]! - 1]!);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
          table[hole] = table[at]!;
          hole = at;
        }
      }
      table[hole] = 0;
    },
  };
}
