/** Nothing that a model reads is nested deeper, or made of more parts; parsing what is would hold up everybody else. */
const most = { depth: 100, containers: 50_000, texts: 400_000 } as const;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Why a body is not parsed; null: it may be. Looks at its bytes only (a hundredth of a second for 8 MB), as parsing millions
 * of small values takes seconds and a hundred times their memory.
 */
export function shapeFault(json: Buffer): 'too_deep' | 'too_many' | null {
  // What is small can be neither.
  if (json.length <= most.depth) return null;
  let depth = 0;
  let containers = 0;
  let texts = 0;
  for (let i = 0; i < json.length; i += 1) {
    const byte = json[i]!;
    if (byte === quote) {
      texts += 1;
      if (texts > most.texts) return 'too_many';
      for (;;) {
        i = json.indexOf(quote, i + 1);
        // Not JSON: the parser says so.
        if (i < 0) return null;
        let back = i - 1;
        while (json[back] === backslash) back -= 1;
        if ((i - 1 - back) % 2 === 0) break;
      }
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      containers += 1;
      if (depth > most.depth) return 'too_deep';
      if (containers > most.containers) return 'too_many';
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return null;
}
