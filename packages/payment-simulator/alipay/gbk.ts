const bytesOf = new Map<string, readonly number[]>();

/** Node.js decodes GBK and does not encode it: the reverse of its decoder, for the characters of two bytes. */
function table(): ReadonlyMap<string, readonly number[]> {
  if (bytesOf.size > 0) return bytesOf;
  const decoder = new TextDecoder('gbk');
  for (let first = 0x81; first <= 0xfe; first += 1)
    for (let second = 0x40; second <= 0xfe; second += 1) {
      if (second === 0x7f) continue;
      const text = decoder.decode(Uint8Array.of(first, second));
      if (text.length === 1 && text !== '\uFFFD') bytesOf.set(text, [first, second]);
    }
  return bytesOf;
}

/** A text in GBK. A character that GBK does not have becomes a question mark. */
export const gbkOf = (text: string): Uint8Array =>
  Uint8Array.from(
    [...text].flatMap((c) => (c.charCodeAt(0) < 0x80 ? [c.charCodeAt(0)] : [...(table().get(c) ?? [0x3f])])),
  );
