import { modelKey } from '../messages/model-key.ts';
import type { Upstream } from '../upstreams/connect-upstream.ts';
import { configuredModels, type ModelConfig } from '../upstreams/upstream-settings.ts';

/** An upstream that serves a model, with the name of the model there. */
export type Candidate = { readonly upstream: Upstream; readonly model: string };
export type ModelRoute = {
  /** Normal form of the model's name. */
  readonly key: string;
  /** null for a model that is not in `gateway.models`. */
  readonly config: ModelConfig | null;
  /** In the order in which they are tried; empty when no enabled upstream serves the model. */
  readonly candidates: readonly Candidate[];
};

/** Cached routes, by the name as the client wrote it. */
const maxRoutes = 2_000;

/** Returns the function that finds the route of a model; null for a model that no upstream serves. `upstreams`: enabled ones. */
export function openModelRoutes(
  upstreams: readonly Upstream[],
  models: Readonly<Record<string, ModelConfig>>,
): (model: string) => ModelRoute | null {
  const byPriority = [...upstreams].sort((a, b) => a.config.priority - b.config.priority);
  const byName = new Map(upstreams.map((upstream) => [upstream.config.name, upstream]));
  const routes = new Map<string, ModelRoute>();

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
    const known = routes.get(model);
    if (known) return known;
    const route = find(model);
    if (!route) return null;
    if (routes.size >= maxRoutes) routes.delete(routes.keys().next().value!);
    routes.set(model, route);
    return route;
  };
}

/** Upstreams whose circuit allows a call come first, in their given order. The others are tried last. */
export function byReadiness(candidates: readonly Candidate[], now: number): readonly Candidate[] {
  if (candidates.every(({ upstream }) => upstream.circuit.allows(now))) return candidates;
  const ready = candidates.filter(({ upstream }) => upstream.circuit.allows(now));
  return [...ready, ...candidates.filter((candidate) => !ready.includes(candidate))];
}
