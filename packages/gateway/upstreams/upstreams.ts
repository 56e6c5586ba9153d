import type { CircuitState } from '@tradepost/core';
import type { Runtime } from '@tradepost/runtime';
import { loadTokenizer } from '../messages/estimate.ts';
import { type ModelRoute, openModelRoutes } from '../proxy/model-routes.ts';
import { connectUpstream, resolveKey, type Upstream } from './connect-upstream.ts';
import { openRedactor, type Redactor, secretsOf } from './redact.ts';
import { type ModelConfig, type UpstreamConfig, upstreamSettings } from './upstream-settings.ts';

/** A request that has chosen an upstream can still be sent to it within this time after a change of settings. */
const graceMs = 5_000;

/** The states of circuits, as the API names them. */
const stateNames = { closed: 'up', open: 'resting', 'half-open': 'probing' } as const satisfies Record<
  CircuitState,
  string
>;

type UpstreamState = {
  readonly name: string;
  readonly base_url: string;
  readonly models: readonly string[];
  readonly priority: number;
  readonly enabled: boolean;
  /** Whether a key is configured. The key is never shown. */
  readonly has_key: boolean;
  readonly state: (typeof stateNames)[CircuitState] | 'disabled';
  /** Consecutive failures. */
  readonly failures: number;
  readonly rest_ms: number;
};

/** The upstreams and models in force. */
export type Upstreams = {
  /** Whether an upstream is enabled. */
  configured(): boolean;
  /** The route of a model; null for an unknown model. */
  routeOf(model: string): ModelRoute | null;
  enabled(): readonly Upstream[];
  models(): Readonly<Record<string, ModelConfig>>;
  /** Removes the keys of all upstreams. */
  redactor(): Redactor;
  state(): UpstreamState[];
  close(): Promise<void>;
};

type Snapshot = {
  readonly of: readonly [readonly UpstreamConfig[], Readonly<Record<string, ModelConfig>>];
  readonly enabled: readonly Upstream[];
  readonly routeOf: (model: string) => ModelRoute | null;
  readonly redactor: Redactor;
};

/** Opens the upstreams. Every call reads the two settings; connections and routes are rebuilt when they have changed. */
export function openUpstreams(
  runtime: Pick<Runtime, 'log'> & { settings: Pick<Runtime['settings'], 'get'> },
  /** `serves`: this process forwards requests, so it needs the tokenizer. */
  { serves = true }: { serves?: boolean } = {},
): Upstreams {
  const { settings, log } = runtime;
  /** By their whole configuration as JSON. Settings are read every 30 s, and an unchanged upstream stays connected. */
  let connected = new Map<string, Upstream>();
  const retired = new Set<Upstream>();
  let closed = false;

  const retire = (upstream: Upstream) => {
    retired.add(upstream);
    const forget = () => retired.delete(upstream);
    // Running requests can end.
    setTimeout(() => upstream.pool.close().then(forget, forget), graceMs).unref();
  };

  const connectAll = (configs: readonly UpstreamConfig[]): Upstream[] => {
    const next = new Map<string, Upstream>();
    for (const config of configs) {
      if (!config.enabled || closed) continue;
      const key = JSON.stringify(config);
      const known = connected.get(key);
      if (!known && resolveKey(config.api_key) === undefined)
        log.warn({ upstream: config.name, key: config.api_key }, 'the key of an upstream is not in the environment');
      next.set(key, known ?? connectUpstream(config));
    }
    for (const [key, upstream] of connected) if (!next.has(key)) retire(upstream);
    connected = next;
    return [...next.values()];
  };

  const build = (of: Snapshot['of']): Snapshot => {
    const enabled = connectAll(of[0]);
    // The tokenizer takes 35 MB and a quarter of a second. It is loaded before the first request, and only with upstreams.
    if (serves && enabled.length > 0)
      loadTokenizer().catch((error: unknown) => log.error({ err: error }, 'the tokenizer could not be loaded'));
    return { of, enabled, routeOf: openModelRoutes(enabled, of[1]), redactor: openRedactor(secretsOf(of[0])) };
  };

  const read = (): Snapshot['of'] => [settings.get(upstreamSettings.upstreams), settings.get(upstreamSettings.models)];
  let current = build(read());
  const now = (): Snapshot => {
    const upstreams = settings.get(upstreamSettings.upstreams);
    const models = settings.get(upstreamSettings.models);
    if (current.of[0] !== upstreams || current.of[1] !== models) current = build([upstreams, models]);
    return current;
  };

  return {
    configured: () => now().enabled.length > 0,
    routeOf: (model) => now().routeOf(model),
    enabled: () => now().enabled,
    models: () => now().of[1],
    redactor: () => now().redactor,
    state() {
      const { of, enabled } = now();
      const byName = new Map(enabled.map((upstream) => [upstream.config.name, upstream]));
      return of[0].map(({ name, base_url, models, priority, enabled, api_key }) => {
        const circuit = byName.get(name)?.circuit;
        const at = performance.now();
        return {
          ...{ name, base_url, models, priority, enabled, has_key: (resolveKey(api_key) ?? '') !== '' },
          state: circuit ? stateNames[circuit.state(at)] : 'disabled',
          failures: circuit?.failures ?? 0,
          rest_ms: circuit?.pauseLeftMs(at) ?? 0,
        };
      });
    },
    async close() {
      closed = true;
      const all = [...connected.values(), ...retired];
      connected = new Map();
      await Promise.all(all.map(({ pool }) => pool.destroy()));
    },
  };
}
