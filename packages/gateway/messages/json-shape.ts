import { randomInt } from 'node:crypto';
import { afterText } from './json-model.ts';

/**
 * What a body may cost the parser. Work is in units of about 30 ns, by what parsing such a part takes at worst (measured: `npm run
 * bench -- gateway-bodies`). Two million are a million numbers, 160,000 texts, or 50,000 messages of role and content.
 */
const most = { depth: 100, containers: 50_000, work: 2_000_000 } as const;
const workOf = { value: 1, container: 4, text: 12, name: 3, newName: 60 } as const;
/** Of a longer name these bytes and its length tell it from others. */
const hashedBytes = 64;

const kinds = { other: 0, text: 1, comma: 2, list: 3, object: 4, closing: 5 } as const;
const kindOf = new Uint8Array(256);
for (const [character, kind] of Object.entries({
  ...{ '"': kinds.text, ',': kinds.comma, '[': kinds.list, '{': kinds.object },
  ...{ ']': kinds.closing, '}': kinds.closing },
}))
  kindOf[character.charCodeAt(0)] = kind;

// Chosen per process, so that nobody can send names that are taken for each other.
const seed = randomInt(2 ** 31) | 1;
const factor = randomInt(2 ** 31) | 1;

function hashOf(json: Buffer, from: number, to: number, before: number): number {
  let hash = Math.imul(before ^ (to - from), factor);
  const end = Math.min(to, from + hashedBytes);
  for (let i = from; i < end; i += 1) {
    hash = Math.imul(hash ^ json[i]!, factor);
    hash ^= hash >>> 15;
  }
  return hash;
}

export type ShapeFault = 'too_deep' | 'too_many';

/**
 * Scans a body in steps, to find out whether it may be parsed: each call looks at about so many bytes and answers a fault, null for a
 * body that may be parsed, or 'more'. It looks at bytes only, as parsing millions of small values takes seconds.
 *
 * The parser makes a hidden class for every new sequence of names in an object, which takes it twenty times as long as one that it
 * knows: a name is new where no object before had it behind the same names.
 */
export function openShapeScan(json: Buffer): (bytes: number) => ShapeFault | 'more' | null {
  let at = 0;
  let depth = 0;
  let containers = 0;
  let work = 0;
  let nameExpected = false;
  /** By depth: the hash of the names so far of an object, 0 for a list. */
  const names = new Int32Array(most.depth + 2);
  const known = new Set<number>();

  const nameWork = (from: number, to: number): number => {
    const hash = hashOf(json, from, to, names[depth]!) || seed;
    names[depth] = hash;
    if (known.has(hash)) return workOf.name;
    known.add(hash);
    return workOf.newName;
  };

  /** Answers the index behind what begins at `i`. */
  const take = (kind: number, i: number): number => {
    if (kind === kinds.text) {
      const end = afterText(json, i);
      work += nameExpected ? nameWork(i, end) : workOf.text;
      nameExpected = false;
      return end;
    }
    if (kind === kinds.comma) {
      work += workOf.value;
      nameExpected = names[depth] !== 0;
    } else if (kind === kinds.closing) {
      depth = Math.max(0, depth - 1);
      nameExpected = false;
    } else {
      depth += 1;
      containers += 1;
      work += workOf.container;
      nameExpected = kind === kinds.object;
      names[depth] = nameExpected ? seed : 0;
    }
    return i + 1;
  };

  return (bytes) => {
    const until = Math.min(json.length, at + bytes);
    let i = at;
    while (i < until) {
      const kind = kindOf[json[i]!]!;
      if (kind === kinds.other) {
        i += 1;
        continue;
      }
      i = take(kind, i);
      if (depth > most.depth) return 'too_deep';
      if (work > most.work || containers > most.containers) return 'too_many';
    }
    at = i;
    return i < json.length ? 'more' : null;
  };
}

/** The same in one step: for bodies of which nobody has to wait. */
export function shapeFault(json: Buffer): ShapeFault | null {
  // What is small can be neither.
  if (json.length <= most.depth) return null;
  return openShapeScan(json)(json.length) as ShapeFault | null;
}
