import type { Admitted } from '@tradepost/rate-limiter';
import type { Runtime } from '@tradepost/runtime';
import { FastResponse } from 'srvx';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import type { RequestFacts } from '../messages/chat-request.ts';
import { type ProxyError, proxyErrors } from '../messages/openai-errors.ts';
import type { StreamEnd } from '../messages/stream.ts';
import type { Redactor } from '../upstreams/redact.ts';
import { type Cancel, cancelNow, type Outcome, type UpstreamRequest } from '../upstreams/send-to-upstream.ts';
import { upstreamSettings } from '../upstreams/upstream-settings.ts';
import type { Upstreams } from '../upstreams/upstreams.ts';
import type { UsageEntry, UsageLog } from '../usage/usage-log.ts';
import { type Measured, measureAnswer, openUsageReader } from '../usage/usage-reader.ts';
import type { UsageState } from '../usage/usage-store.ts';
import { type ForwardDeps, type Forwarded, forward, isUnusable } from './forward.ts';
import type { CallResult, ProxyCaller } from './gateway-deps.ts';
import type { ModelRoute } from './model-routes.ts';
import { commonHeaders, type HeaderList, pushRateHeaders } from './rate-answer.ts';
import { relayedAnswer } from './relay-response.ts';

const wholeMs = (ms: number) => Math.max(0, Math.round(ms));

/** The error for the client when no upstream answered; null when the answer of the upstream can be relayed. */
function faultOf(outcome: Outcome, wasSent: boolean): ProxyError | null {
  if (outcome.kind !== 'fault') return isUnusable(outcome.status) ? proxyErrors.upstream_error() : null;
  if (!wasSent) return proxyErrors.no_upstream();
  if (outcome.fault === 'timeout') return proxyErrors.upstream_timeout();
  return outcome.fault === 'too_large' ? proxyErrors.upstream_too_large() : proxyErrors.upstream_error();
}

const stateOfEnd: Readonly<Record<StreamEnd, UsageState>> = {
  done: 'done',
  cancelled: 'cancelled',
  reset: 'failed',
  idle: 'failed',
};

/** Shared by all exchanges of a gateway. */
export type ExchangeDeps = {
  readonly runtime: Pick<Runtime, 'log' | 'settings'>;
  readonly upstreams: Upstreams;
  readonly usage: UsageLog;
  readonly forwarding: ForwardDeps;
  readonly firstByteSeconds: GatewayMetrics['firstByteSeconds'];
};

/** A request that was admitted and is in the usage log. */
export type AdmittedCall = {
  readonly caller: ProxyCaller;
  readonly entry: UsageEntry;
  readonly verdict: Admitted;
  readonly route: ModelRoute;
  readonly model: string;
  readonly bytes: Uint8Array;
  readonly headers: readonly string[];
  readonly facts: RequestFacts;
  readonly cancel: Cancel;
};

/** Forwards one admitted request, records its usage and answers it. */
export class Exchange {
  readonly #deps: ExchangeDeps;
  readonly #call: AdmittedCall;
  readonly #reader = openUsageReader();
  readonly #redactor: Redactor;
  #forwarded: Forwarded | null = null;
  #firstByteMs: number | null = null;
  /** Why the usage row could not be written. */
  #notRecorded: unknown = null;

  constructor(deps: ExchangeDeps, call: AdmittedCall) {
    this.#deps = deps;
    this.#call = call;
    this.#redactor = deps.upstreams.redactor();
  }

  async run(): Promise<CallResult> {
    const { caller, entry, verdict, route, model, cancel } = this.#call;
    const { runtime, forwarding } = this.#deps;
    // An answer without a row is not sent, so the upstream can stop.
    const committed = entry.committed.catch((error: unknown) => {
      this.#notRecorded = error;
      cancelNow(cancel);
    });
    const maxAttempts = runtime.settings.get(upstreamSettings.retry_attempts);
    this.#forwarded = await forward(forwarding, { route, model, maxAttempts, request: this.#request() }, cancel);
    const { outcome, upstream } = this.#forwarded;
    const fault = faultOf(outcome, upstream !== null);
    const isCancelled = outcome.kind === 'fault' && outcome.fault === 'cancelled';
    this.#firstByteMs = wholeMs(performance.now() - caller.started);
    const rate: HeaderList = [];
    pushRateHeaders(rate, verdict);

    if (fault || outcome.kind === 'fault') {
      const error = isCancelled ? proxyErrors.client_gone() : (fault ?? proxyErrors.upstream_error());
      this.#end(isCancelled ? 'cancelled' : 'failed', null, isCancelled ? null : error.status);
      await committed;
      if (this.#notRecorded !== null) return { error: proxyErrors.not_recorded(), cause: this.#notRecorded };
      return { error, headers: rate };
    }
    const ok = outcome.status < 400;
    if (outcome.kind === 'whole') {
      const measuring = ok ? measureAnswer(outcome.body) : null;
      const measured =
        measuring instanceof Promise ? await measuring.catch((error: unknown) => this.#notMeasured(error)) : measuring;
      this.#end(ok ? 'done' : 'failed', measured, outcome.status);
    }
    await committed;
    if (this.#notRecorded !== null) {
      if (outcome.kind === 'stream') outcome.readable.cancel().catch(() => {});
      return { error: proxyErrors.not_recorded(), cause: this.#notRecorded };
    }
    return this.#respond(outcome, rate);
  }

  #request(): UpstreamRequest & { body: Uint8Array } {
    const { caller, headers, bytes, facts } = this.#call;
    return {
      method: 'POST',
      path: caller.endpoint,
      headers,
      body: bytes,
      stream: facts.stream,
      redactor: this.#redactor,
      onChunk: this.#reader.read,
      // The stream of an upstream can end before `forward` has returned.
      onStreamEnd: (end) => void setImmediate(() => this.#onStreamEnd(end)),
    };
  }

  #respond(outcome: Exclude<Outcome, { kind: 'fault' }>, rate: HeaderList): Response {
    const { caller } = this.#call;
    const headers: HeaderList = [['x-request-id', caller.id], ...commonHeaders, ...rate];
    const relayed = relayedAnswer(outcome, this.#redactor);
    headers.push(...relayed.headers);
    // Without this header a reverse proxy in front of the gateway buffers the stream.
    if (outcome.kind === 'stream') headers.push(['x-accel-buffering', 'no']);
    this.#deps.firstByteSeconds.labels(caller.endpoint).observe((performance.now() - caller.started) / 1000);
    return new FastResponse(relayed.body, { status: outcome.status, headers });
  }

  #onStreamEnd(end: StreamEnd): void {
    const { circuit } = this.#forwarded!.upstream!;
    if (end === 'reset' || end === 'idle') circuit.fail(performance.now());
    else circuit.succeed();
    this.#reader
      .measure()
      .catch((error: unknown) => this.#notMeasured(error))
      .then((measured) => this.#end(stateOfEnd[end], measured, 200));
  }

  #notMeasured(error: unknown): null {
    const { log } = this.#deps.runtime;
    log.error({ err: error, trace: this.#call.caller.id }, 'the usage of a gateway request could not be read');
    return null;
  }

  #end(state: UsageState, measured: Measured | null, status: number | null): void {
    const { entry, caller } = this.#call;
    const forwarded = this.#forwarded;
    this.#deps.usage.end(entry, {
      state,
      upstream: forwarded?.upstream?.config.name ?? null,
      upstream_model: forwarded?.model ?? null,
      http_status: status,
      attempts: forwarded?.attempts ?? 0,
      input_tokens: measured ? (measured.tokens.input ?? entry.row.estimated_input_tokens) : null,
      output_tokens: measured?.tokens.output ?? null,
      usage_source: measured?.source ?? null,
      first_byte_ms: this.#firstByteMs,
      duration_ms: wholeMs(performance.now() - caller.started),
      ended_at: Date.now(),
    });
  }
}
