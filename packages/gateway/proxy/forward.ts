import type { GatewayMetrics } from '../gateway-metrics.ts';
import { withModel } from '../messages/json-model.ts';
import { type Asked, askUpstream, type Cancel, type Outcome } from '../upstreams/ask-upstream.ts';
import type { Upstream } from '../upstreams/connect-upstream.ts';
import { inTurn, type ModelRoute } from './model-routes.ts';

/** What became of one request over all attempts. */
export type Forwarded = {
  readonly outcome: Outcome;
  /** The one asked last; null when there was none left to ask. */
  readonly upstream: Upstream | null;
  readonly model: string | null;
  readonly attempts: number;
};

export type ForwardDeps = {
  readonly metrics: Pick<GatewayMetrics, 'attempts' | 'upstreamSeconds'>;
  readonly warn: (fields: Readonly<Record<string, unknown>>) => void;
};

const defaultLimitedMs = 1_000;

/** What an upstream's 429 asks for; 1 s where it says nothing. */
function retryAfterMs(headers: Readonly<Record<string, string | string[] | undefined>>): number {
  const exact = Number.parseFloat(String(headers['retry-after-ms'] ?? ''));
  if (exact >= 0) return exact;
  const text = String(headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? defaultLimitedMs : Math.max(0, date - Date.now());
}

/** It does not know our key, or is elsewhere: nothing that the client or a repeat could mend. */
export const isUnusable = (status: number): boolean =>
  status === 401 || (status >= 300 && status < 400) || status > 599;

type Judged = 'answer' | 'again' | 'next' | 'stop';

function resultOf(outcome: Outcome): string {
  if (outcome.kind === 'fault') return outcome.fault;
  const { status } = outcome;
  return status < 300 ? 'ok' : status === 429 ? 'limited' : status < 500 ? 'refused' : 'error';
}

/** Reports the outcome to the circuit breaker of the upstream, and decides what to do next. */
function judge(upstream: Upstream, outcome: Outcome): Judged {
  const { circuit } = upstream;
  const now = performance.now();
  if (outcome.kind === 'fault') {
    if (outcome.fault === 'cancelled') {
      circuit.abandonTrial();
      return 'stop';
    }
    circuit.fail(now);
    // The next one's would be as large.
    return outcome.fault === 'too_large' ? 'stop' : 'again';
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
    return 'again';
  }
  if (outcome.kind === 'stream') circuit.close();
  else circuit.succeed();
  return 'answer';
}

/**
 * Asks one upstream after the other until one answers, which is when its first byte is on its way to the client: nothing is
 * repeated after that. A kept connection that turns out to be closed is an attempt, but no failure of the upstream, once: most
 * likely it was closed for its age while the request was on its way, and nobody has seen it.
 */
export async function forward(
  { metrics, warn }: ForwardDeps,
  request: { route: ModelRoute; model: string; maxAttempts: number; asked: Asked & { body: Uint8Array } },
  cancel: Cancel,
): Promise<Forwarded> {
  const { route, model, maxAttempts, asked } = request;
  let attempts = 0;
  let mayRepeatStale = true;
  let last: Forwarded = {
    outcome: { kind: 'fault', fault: 'connect', code: 'no_upstream', stale: false },
    upstream: null,
    model: null,
    attempts,
  };
  for (const candidate of inTurn(route.candidates, performance.now())) {
    const { upstream } = candidate;
    // Taken out of the settings while another one was asked.
    if (upstream.pool.closed) continue;
    const { name } = upstream.config;
    const body = candidate.model === model ? asked.body : withModel(asked.body, candidate.model);
    for (let tries = upstream.config.max_attempts; tries > 0 && attempts < maxAttempts; tries -= 1) {
      attempts += 1;
      const started = performance.now();
      upstream.circuit.begin(started);
      let outcome = await askUpstream(upstream, { ...asked, body }, cancel);
      if (outcome.kind === 'fault' && outcome.stale && mayRepeatStale && attempts < maxAttempts && !cancel.cancelled) {
        mayRepeatStale = false;
        attempts += 1;
        metrics.attempts.labels(name, 'stale').inc();
        outcome = await askUpstream(upstream, { ...asked, body }, cancel);
      }
      metrics.attempts.labels(name, resultOf(outcome)).inc();
      metrics.upstreamSeconds.labels(name).observe((performance.now() - started) / 1000);
      last = { outcome, upstream, model: candidate.model, attempts };
      const judged = judge(upstream, outcome);
      if (judged === 'answer' || judged === 'stop') return last;
      warn({
        upstream: name,
        ...(outcome.kind === 'fault' ? { fault: outcome.fault, error: outcome.code } : { status: outcome.status }),
      });
      if (judged === 'next') break;
    }
    if (attempts >= maxAttempts) break;
  }
  return last;
}
