import type { Upstream } from './connect-upstream.ts';
import type { ModelConfig } from './upstream-settings.ts';

/** An upstream that serves a model, and the model's name there. */
export type Candidate = { readonly upstream: Upstream; readonly model: string };
export type ModelRoute = {
  /** null: not configured by name, an upstream's list or pattern has it. */
  readonly config: ModelConfig | null;
  /** In the order in which they are tried; empty when none that serves it is enabled. */
  readonly candidates: readonly Candidate[];
};

/** Routes of models that only a pattern knows, kept by the name a client gave. */
const keptRoutes = 2_000;

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

/** `upstreams`: those enabled, in any order. Answers null for a model that nobody serves. */
export function openModelRoutes(
  upstreams: readonly Upstream[],
  models: Readonly<Record<string, ModelConfig>>,
): (model: string) => ModelRoute | null {
  const byPriority = [...upstreams].sort((a, b) => a.config.priority - b.config.priority);
  const byName = new Map(upstreams.map((upstream) => [upstream.config.name, upstream]));
  const kept = new Map<string, ModelRoute>();

  const find = (model: string): ModelRoute | null => {
    const config = Object.hasOwn(models, model) ? models[model]! : null;
    const there = config?.model ?? model;
    const serving = config?.upstreams
      ? config.upstreams.flatMap((name) => byName.get(name) ?? [])
      : byPriority.filter((upstream) => upstream.config.models.some((pattern) => fitsPattern(pattern, there)));
    if (serving.length === 0 && !config) return null;
    return { config, candidates: serving.map((upstream) => ({ upstream, model: there })) };
  };

  return (model) => {
    const known = kept.get(model);
    if (known) return known;
    const route = find(model);
    if (!route) return null;
    if (kept.size >= keptRoutes) kept.delete(kept.keys().next().value!);
    kept.set(model, route);
    return route;
  };
}

/** Ready ones first, each kind in its given order: an upstream that rests is asked only when nobody else is left. */
export function inTurn(candidates: readonly Candidate[], now: number): readonly Candidate[] {
  if (candidates.every(({ upstream }) => upstream.health.ready(now))) return candidates;
  const ready = candidates.filter(({ upstream }) => upstream.health.ready(now));
  return [...ready, ...candidates.filter((candidate) => !ready.includes(candidate))];
}
