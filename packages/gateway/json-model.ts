const quote = 0x22;
const backslash = 0x5c;
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d;
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Up to here a byte at a time is the quickest. */
const shortText = 64;

/** Index after the text that begins with the quote at `at`. */
function afterText(json: Uint8Array, at: number): number {
  let i = at + 1;
  const most = Math.min(json.length, i + shortText);
  while (i < most && json[i] !== quote) i += json[i] === backslash ? 2 : 1;
  if (i < most) return i + 1;
  // Of a long one only the quotes are looked at; the one behind an even number of backslashes is the end.
  for (let from = i; ; ) {
    const found = json.indexOf(quote, from);
    if (found < 0) return json.length + 1;
    let first = found;
    while (first > i && json[first - 1] === backslash) first -= 1;
    if ((found - first) % 2 === 0) return found + 1;
    from = found + 1;
  }
}

function afterSpace(json: Uint8Array, at: number): number {
  let i = at;
  while (i < json.length && isSpace(json[i]!)) i += 1;
  return i;
}

/** The end of the value that begins at `at`, and how deep it is nested: 0 for a text, a number or a word. */
function valueAt(json: Uint8Array, at: number): { end: number; depth: number } {
  if (json[at] === quote) return { end: afterText(json, at), depth: 0 };
  let depth = 0;
  let deepest = 0;
  let i = at;
  while (i < json.length) {
    const byte = json[i]!;
    if (byte === quote) {
      i = afterText(json, i);
      continue;
    }
    if (isOpening(byte)) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (isClosing(byte)) {
      // The end of the object around a number or word.
      if (depth === 0) break;
      depth -= 1;
      if (depth === 0) return { end: i + 1, depth: deepest };
    } else if (depth === 0 && (byte === 0x2c || isSpace(byte))) break;
    i += 1;
  }
  return { end: i, depth: deepest };
}

type Field = { readonly name: string; readonly from: number; readonly to: number; readonly depth: number };

/** The top-level fields, one by one, as often as they are there. It has been parsed before, so it is a JSON object. */
function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let i = afterSpace(json, afterSpace(json, 0) + 1);
  while (i < json.length && json[i] === quote) {
    const nameEnd = afterText(json, i);
    const quoted = json.toString('utf8', i, nameEnd);
    const name = quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1);
    // Past the colon.
    const from = afterSpace(json, afterSpace(json, nameEnd) + 1);
    const { end: to, depth } = valueAt(json, from);
    yield { name, from, to, depth };
    // Past the comma, or the end.
    i = afterSpace(json, afterSpace(json, to) + 1);
  }
}

/** What parsing hides of an object: names that are there several times (no more than `most` are looked at), and its depth. */
export function readOutline(json: Uint8Array, most: number): { fields: string[]; depth: number } {
  const fields: string[] = [];
  let deepest = 0;
  for (const { name, depth } of fieldsOf(json)) {
    fields.push(name);
    if (depth > deepest) deepest = depth;
    if (fields.length === most) break;
  }
  return { fields, depth: deepest + 1 };
}

/**
 * The body with another value for its top-level `model`, all other bytes as they are. Of a key that is there several times all
 * values are replaced, as parsers differ in which they take.
 */
export function withModel(json: Uint8Array, model: string): Buffer {
  const value = Buffer.from(JSON.stringify(model));
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (const { name, from, to } of fieldsOf(json)) {
    if (name !== 'model') continue;
    parts.push(json.subarray(copied, from), value);
    copied = to;
  }
  parts.push(json.subarray(copied));
  return Buffer.concat(parts);
}
