import { randomInt } from 'node:crypto';
import { afterText } from './json-model.ts';

/**
 * Limits of a body. `work` is the time of the parser in units of about 30 ns, measured for the worst case of each part
 * (`npm run bench -- gateway-bodies`). Two million units are a million numbers, 160,000 texts, or 50,000 messages of role and
 * content.
 */
const most = { depth: 100, containers: 50_000, work: 2_000_000 } as const;
const workOf = { value: 1, container: 4, text: 12, name: 3, newName: 60 } as const;
/** Longer names are compared by these first bytes and their length. */
const hashedBytes = 64;

const kinds = { other: 0, text: 1, comma: 2, list: 3, object: 4, closing: 5 } as const;
const kindOf = new Uint8Array(256);
for (const [character, kind] of Object.entries({
  ...{ '"': kinds.text, ',': kinds.comma, '[': kinds.list, '{': kinds.object },
  ...{ ']': kinds.closing, '}': kinds.closing },
}))
  kindOf[character.charCodeAt(0)] = kind;

// Random for each process, so that a client cannot construct names with the same hash.
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
 * Opens a scan that decides whether a body may be parsed. Each call scans about `bytes` bytes. It returns a fault, null for a
 * body that may be parsed, or 'more'. It scans bytes, because parsing millions of small values takes seconds.
 *
 * The parser creates a hidden class for each new sequence of names in an object. That takes twenty times as long as a known
 * sequence. A name is new when no earlier object had it after the same names.
 */
export function openShapeScan(json: Buffer): (bytes: number) => ShapeFault | 'more' | null {
  let at = 0;
  let depth = 0;
  let containers = 0;
  let work = 0;
  let nameExpected = false;
  /** By depth: the hash of the names of an object so far, or 0 for a list. */
  const names = new Int32Array(most.depth + 2);
  const known = new Set<number>();

  const nameWork = (from: number, to: number): number => {
    const hash = hashOf(json, from, to, names[depth]!) || seed;
    names[depth] = hash;
    if (known.has(hash)) return workOf.name;
    known.add(hash);
    return workOf.newName;
  };

  /** Counts the part that begins at `i`. Returns the index after it. */
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

/** Scans a body in one step. For bodies that are small enough not to delay other requests. */
export function shapeFault(json: Buffer): ShapeFault | null {
  // A body of this size can exceed no limit.
  if (json.length <= most.depth) return null;
  return openShapeScan(json)(json.length) as ShapeFault | null;
}
