import type { GatewayMetrics } from '../gateway-metrics.ts';
import { withModel } from '../messages/json-model.ts';
import type { Upstream } from '../upstreams/connect-upstream.ts';
import { type Cancel, type Outcome, sendToUpstream, type UpstreamRequest } from '../upstreams/send-to-upstream.ts';
import { byReadiness, type ModelRoute } from './model-routes.ts';

/** The outcome of one request after all attempts. */
export type Forwarded = {
  readonly outcome: Outcome;
  /** The upstream of the last attempt; null when there was no upstream to try. */
  readonly upstream: Upstream | null;
  readonly model: string | null;
  readonly attempts: number;
};

export type ForwardDeps = {
  readonly metrics: Pick<GatewayMetrics, 'attempts' | 'upstreamSeconds'>;
  readonly warn: (fields: Readonly<Record<string, unknown>>) => void;
};

const defaultLimitedMs = 1_000;

/** The pause that a 429 of an upstream asks for; 1 s when it does not say. */
function retryAfterMs(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  const exact = Number.parseFloat(String(headers['retry-after-ms'] ?? ''));
  if (exact >= 0) return exact;
  const text = String(headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? defaultLimitedMs : Math.max(0, date - Date.now());
}

/** The key or the address of the gateway is wrong. The client cannot change that, and a retry does not help. */
export const isUnusable = (status: number): boolean =>
  status === 401 || (status >= 300 && status < 400) || status > 599;

/** `answer`: return it. `retry`: try the same upstream again. `next`: try another upstream. `stop`: return the fault. */
type NextStep = 'answer' | 'retry' | 'next' | 'stop';

/** The outcome as a label of the metrics. */
function resultOf(outcome: Outcome): string {
  if (outcome.kind === 'fault') return outcome.fault;
  const { status } = outcome;
  return status < 300 ? 'ok' : status === 429 ? 'limited' : status < 500 ? 'refused' : 'error';
}

/** Reports the outcome to the circuit breaker of the upstream, and decides what to do next. */
function judge(upstream: Upstream, outcome: Outcome): NextStep {
  const { circuit } = upstream;
  const now = performance.now();
  if (outcome.kind === 'fault') {
    if (outcome.fault === 'cancelled') {
      circuit.abandonTrial();
      return 'stop';
    }
    circuit.fail(now);
    // The answer of another upstream would be as large.
    return outcome.fault === 'too_large' ? 'stop' : 'retry';
  }
  const { status, headers } = outcome;
  if (status === 429) {
    circuit.pause(now, retryAfterMs(headers));
    return 'next';
  }
  if (isUnusable(status)) {
    circuit.fail(now);
    return 'next';
  }
  if (status >= 500) {
    circuit.fail(now);
    return 'retry';
  }
  if (outcome.kind === 'stream') circuit.close();
  else circuit.succeed();
  return 'answer';
}

/**
 * Tries upstreams one after the other until one answers. Then the first byte is on its way to the client, and nothing
 * is retried any more. A kept connection that turns out to be closed counts as an attempt. The first closed connection
 * does not count as a failure of the upstream: most likely the upstream closed the connection for its age, and did not
 * see the request.
 */
export async function forward(
  { metrics, warn }: ForwardDeps,
  call: { route: ModelRoute; model: string; maxAttempts: number; request: UpstreamRequest & { body: Uint8Array } },
  cancel: Cancel,
): Promise<Forwarded> {
  const { route, model, maxAttempts, request } = call;
  let attempts = 0;
  let mayRepeatStale = true;
  let last: Forwarded = {
    outcome: { kind: 'fault', fault: 'connect', code: 'no_upstream', stale: false },
    upstream: null,
    model: null,
    attempts,
  };
  for (const candidate of byReadiness(route.candidates, performance.now())) {
    const { upstream } = candidate;
    // The settings changed during an earlier attempt, and this upstream was removed or replaced.
    if (upstream.pool.closed) continue;
    const { name } = upstream.config;
    const body = candidate.model === model ? request.body : withModel(request.body, candidate.model);
    for (let tries = upstream.config.max_attempts; tries > 0 && attempts < maxAttempts; tries -= 1) {
      attempts += 1;
      const started = performance.now();
      upstream.circuit.begin(started);
      let outcome = await sendToUpstream(upstream, { ...request, body }, cancel);
      if (outcome.kind === 'fault' && outcome.stale && mayRepeatStale && attempts < maxAttempts && !cancel.cancelled) {
        mayRepeatStale = false;
        attempts += 1;
        metrics.attempts.labels(name, 'stale').inc();
        outcome = await sendToUpstream(upstream, { ...request, body }, cancel);
      }
      metrics.attempts.labels(name, resultOf(outcome)).inc();
      metrics.upstreamSeconds.labels(name).observe((performance.now() - started) / 1000);
      last = { outcome, upstream, model: candidate.model, attempts };
      const next = judge(upstream, outcome);
      if (next === 'answer' || next === 'stop') return last;
      warn({
        upstream: name,
        ...(outcome.kind === 'fault' ? { fault: outcome.fault, error: outcome.code } : { status: outcome.status }),
      });
      if (next === 'next') break;
    }
    if (attempts >= maxAttempts) break;
  }
  return last;
}
