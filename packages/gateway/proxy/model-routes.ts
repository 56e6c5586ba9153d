import { modelKey } from '../messages/model-key.ts';
import type { Upstream } from '../upstreams/connect-upstream.ts';
import { configuredModels, type ModelConfig } from '../upstreams/upstream-settings.ts';

/** An upstream that serves a model, and the model's name there. */
export type Candidate = { readonly upstream: Upstream; readonly model: string };
export type ModelRoute = {
  /** Normal form of the model's name. */
  readonly key: string;
  /** null: not configured by name, an upstream's list or pattern has it. */
  readonly config: ModelConfig | null;
  /** In the order in which they are tried; empty when none that serves it is enabled. */
  readonly candidates: readonly Candidate[];
};

/** Routes, kept by the name as the client wrote it. */
const keptRoutes = 2_000;

/** `upstreams`: those enabled, in any order. Answers null for a model that nobody serves. */
export function openModelRoutes(
  upstreams: readonly Upstream[],
  models: Readonly<Record<string, ModelConfig>>,
): (model: string) => ModelRoute | null {
  const byPriority = [...upstreams].sort((a, b) => a.config.priority - b.config.priority);
  const byName = new Map(upstreams.map((upstream) => [upstream.config.name, upstream]));
  const kept = new Map<string, ModelRoute>();

  const find = (written: string): ModelRoute | null => {
    const key = modelKey(written);
    if (key === null) return null;
    const { name, config } = configuredModels(models).get(key) ?? { name: written, config: null };
    const there = config?.model ?? name;
    const keyThere = modelKey(there)!;
    const candidates: Candidate[] = [];
    if (config?.upstreams)
      for (const upstreamName of config.upstreams) {
        const upstream = byName.get(upstreamName);
        if (upstream) candidates.push({ upstream, model: upstream.serves(keyThere, there) ?? there });
      }
    else
      for (const upstream of byPriority) {
        const model = upstream.serves(keyThere, there);
        if (model !== null) candidates.push({ upstream, model });
      }
    return candidates.length === 0 && !config ? null : { key, config, candidates };
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

/** Upstreams whose circuit allows a call come first, in their given order. The others are asked last. */
export function inTurn(candidates: readonly Candidate[], now: number): readonly Candidate[] {
  if (candidates.every(({ upstream }) => upstream.circuit.allows(now))) return candidates;
  const ready = candidates.filter(({ upstream }) => upstream.circuit.allows(now));
  return [...ready, ...candidates.filter((candidate) => !ready.includes(candidate))];
}
