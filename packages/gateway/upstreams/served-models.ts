import { modelKey } from '../messages/model-key.ts';

/** `*` stands for any characters; one pass, whatever the pattern. */
export function fitsPattern(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  const parts = pattern.split('*');
  const last = parts.pop()!;
  const first = parts.shift()!;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let from = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return from <= name.length - last.length;
}

/** The name under which an upstream serves a model; null where it does not. `written`: how the client or the setting spells `key`. */
export type FindServed = (key: string, written: string) => string | null;

/** `models`: names and patterns of one upstream. A listed name is used as listed, else a pattern takes the name as written. */
export function servedModels(models: readonly string[]): FindServed {
  const listed = new Map<string, string>();
  const patterns: string[] = [];
  for (const name of models) {
    const key = modelKey(name);
    if (key === null) continue;
    if (name.includes('*')) patterns.push(key);
    else listed.set(key, name);
  }
  return (key, written) => listed.get(key) ?? (patterns.some((pattern) => fitsPattern(pattern, key)) ? written : null);
}
