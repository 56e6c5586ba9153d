import { modelKey } from '../messages/model-key.ts';

/** Whether a name matches a pattern, in which `*` is any number of characters. Takes linear time for every pattern. */
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

/** Finds the name by which an upstream serves a model; null when it does not. `written`: the spelling of the client or setting. */
export type FindServed = (key: string, written: string) => string | null;

/** `models`: names and patterns of one upstream. A listed name keeps its spelling; a pattern uses the written name. */
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
