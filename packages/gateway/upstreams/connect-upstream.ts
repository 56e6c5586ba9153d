import { CircuitBreaker } from '@tradepost/core';
import { callOperation, type KeptConnections, keptConnections } from '@tradepost/runtime';
import { type FindServed, servedModels } from './served-models.ts';
import type { UpstreamConfig } from './upstream-settings.ts';

/** Connections of one process to one upstream. Further requests wait for a connection. */
const connections = 1024;
const keepAliveMs = 30_000;
const circuitOptions = { failuresToOpen: 3, firstPauseMs: 1_000, longestPauseMs: 60_000 };

/** A connected upstream: its configuration, its connections and its circuit breaker. */
export type Upstream = KeptConnections & {
  readonly config: UpstreamConfig;
  readonly origin: string;
  /** Path of the base URL, without a slash at its end. */
  readonly prefix: string;
  /** Name, value, name, value: the key and the headers of the configuration. Secret. */
  readonly headers: readonly string[];
  /** What the spans of its requests are about, by method. */
  readonly calls: Readonly<Record<'GET' | 'POST', ReturnType<typeof callOperation>>>;
  readonly circuit: CircuitBreaker;
  readonly serves: FindServed;
};

/** Resolves a key. `env:NAME` is read from the environment; undefined when the variable is missing. */
export function resolveKey(apiKey: string): string | undefined {
  return apiKey.startsWith('env:') ? process.env[apiKey.slice(4)] || undefined : apiKey;
}

export function connectUpstream(config: UpstreamConfig): Upstream {
  const { origin, pathname } = new URL(config.base_url);
  const connectMs = config.connect_timeout_ms;
  const key = resolveKey(config.api_key) ?? '';
  const headers = ['user-agent', 'tradepost-gateway', 'accept-encoding', 'identity'];
  for (const [name, value] of Object.entries(config.headers)) headers.push(name.toLowerCase(), value);
  if (key !== '') headers.push('authorization', `Bearer ${key}`);
  return {
    config,
    origin,
    prefix: pathname.replace(/\/+$/, ''),
    headers,
    calls: { GET: callOperation(config.name, 'GET', origin), POST: callOperation(config.name, 'POST', origin) },
    ...keptConnections(origin, { connections, connectMs, keepAliveMs }),
    circuit: new CircuitBreaker(circuitOptions),
    serves: servedModels(config.models),
  };
}
