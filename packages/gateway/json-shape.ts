import { afterText, isClosing, isOpening, quote } from './json-model.ts';

/** Nothing that a model reads is nested deeper, or made of more parts; parsing what is would hold up everybody else. */
const most = { depth: 100, containers: 50_000, texts: 400_000 } as const;

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
  for (let i = 0; i < json.length; ) {
    const byte = json[i]!;
    if (byte === quote) {
      texts += 1;
      if (texts > most.texts) return 'too_many';
      i = afterText(json, i);
      continue;
    }
    if (isOpening(byte)) {
      depth += 1;
      containers += 1;
      if (depth > most.depth) return 'too_deep';
      if (containers > most.containers) return 'too_many';
    } else if (isClosing(byte)) depth -= 1;
    i += 1;
  }
  return null;
}
