const quote = 0x22;
const backslash = 0x5c;
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d;
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * The first bytes of a text, up to this number, are read one by one. After them the next quote is searched for. Most
 * texts are shorter.
 */
const shortText = 64;

/** Index after the text that begins with the quote at `at`. */
export function afterText(json: Uint8Array, at: number): number {
  for (let i = at + 1; ; ) {
    const until = Math.min(json.length, i + shortText);
    while (i < until && json[i] !== quote) i += json[i] === backslash ? 2 : 1;
    if (i < until) return i + 1;
    // A quote after an even number of backslashes ends the text.
    const found = json.indexOf(quote, i);
    if (found < 0) return json.length + 1;
    let first = found;
    while (first > i && json[first - 1] === backslash) first -= 1;
    if ((found - first) % 2 === 0) return found + 1;
    i = found + 1;
  }
}

function afterSpace(json: Uint8Array, at: number): number {
  let i = at;
  while (i < json.length && isSpace(json[i]!)) i += 1;
  return i;
}

/** Index after the value that begins at `at`. */
function afterValue(json: Uint8Array, at: number): number {
  if (json[at] === quote) return afterText(json, at);
  let depth = 0;
  let i = at;
  while (i < json.length) {
    const byte = json[i]!;
    if (byte === quote) {
      i = afterText(json, i);
      continue;
    }
    if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) {
      // The end of the object that contains a number or a word.
      if (depth === 0) return i;
      depth -= 1;
      if (depth === 0) return i + 1;
    } else if (depth === 0 && (byte === 0x2c || isSpace(byte))) return i;
    i += 1;
  }
  return i;
}

type Field = { readonly name: string; readonly from: number; readonly to: number };

/** Yields the top-level fields, repeated ones each time. The bytes must be a JSON object that was parsed before. */
function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let i = afterSpace(json, afterSpace(json, 0) + 1);
  while (i < json.length && json[i] === quote) {
    const nameEnd = afterText(json, i);
    const quoted = json.toString('utf8', i, nameEnd);
    const name = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
    // After the colon.
    const from = afterSpace(json, afterSpace(json, nameEnd) + 1);
    const to = afterValue(json, from);
    yield { name, from, to };
    // After the comma or the closing brace.
    i = afterSpace(json, afterSpace(json, to) + 1);
  }
}

/** The first `most` names of top-level fields. Repeated names, which parsing hides, are repeated. */
export function fieldNames(json: Uint8Array, most: number): string[] {
  const names: string[] = [];
  for (const { name } of fieldsOf(json)) {
    names.push(name);
    if (names.length === most) break;
  }
  return names;
}

/**
 * Replaces the value of the top-level `model`. All other bytes stay. A repeated `model` is replaced each time, because parsers
 * differ in which value they use.
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
