const quote = 0x22;
const backslash = 0x5c;
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d;
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Index after the text that begins with the quote at `at`. */
function afterText(json: Uint8Array, at: number): number {
  let i = at + 1;
  while (i < json.length && json[i] !== quote) i += json[i] === backslash ? 2 : 1;
  return i + 1;
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
      // The end of the object around a number or word.
      if (depth === 0) return i;
      depth -= 1;
      if (depth === 0) return i + 1;
    } else if (depth === 0 && (byte === 0x2c || isSpace(byte))) return i;
    i += 1;
  }
  return i;
}

const text = (json: Uint8Array, from: number, to: number) =>
  Buffer.from(json.buffer, json.byteOffset + from, to - from).toString('utf8');

/**
 * The body with another value for its top-level `model`, all other bytes as they are. It has been parsed before, so it is a
 * JSON object; of a key that is there several times all values are replaced, as parsers differ in which they take.
 */
export function withModel(json: Uint8Array, model: string): Buffer {
  const value = Buffer.from(JSON.stringify(model));
  const parts: Uint8Array[] = [];
  let copied = 0;
  let i = afterSpace(json, afterSpace(json, 0) + 1);
  while (i < json.length && json[i] === quote) {
    const keyEnd = afterText(json, i);
    const key = text(json, i, keyEnd);
    // Past the colon.
    const from = afterSpace(json, afterSpace(json, keyEnd) + 1);
    const to = afterValue(json, from);
    if (key === '"model"' || (key.includes('\\') && JSON.parse(key) === 'model')) {
      parts.push(json.subarray(copied, from), value);
      copied = to;
    }
    // Past the comma, or the end.
    i = afterSpace(json, afterSpace(json, to) + 1);
  }
  parts.push(json.subarray(copied));
  return Buffer.concat(parts);
}
