import { hash } from 'node:crypto';
import { type Admitted, maxCost, type Refused } from '@tradepost/rate-limiter';
import { openCountedWarning } from '@tradepost/runtime';
import { FastResponse } from 'srvx';
import { type AskedFor, type Endpoint, readRequest } from '../messages/chat-request.ts';
import { countTokens } from '../messages/estimate.ts';
import { type ProxyError, proxyErrors } from '../messages/openai-errors.ts';
import type { StreamEnd } from '../messages/stream.ts';
import { rateLimitSettings } from '../settings.ts';
import type { ApiToken } from '../tokens/api-token.ts';
import type { Asked, Cancel, Outcome } from '../upstreams/ask-upstream.ts';
import { cancelNow } from '../upstreams/ask-upstream.ts';
import { upstreamSettings } from '../upstreams/upstream-settings.ts';
import type { UsageEntry } from '../usage/usage-log.ts';
import { type Measured, measureAnswer, openUsageReader } from '../usage/usage-reader.ts';
import type { UsageState } from '../usage/usage-store.ts';
import { type Forwarded, forward, isUnusable } from './forward.ts';
import type { Asker, GatewayDeps } from './gateway-deps.ts';
import { gatewayHeader } from './gateway-loop.ts';
import { openLargeBodies } from './large-bodies.ts';
import type { ModelRoute } from './model-routes.ts';
import { commonHeaders, type HeaderList, pushRateHeaders } from './rate-answer.ts';
import { limitsOf } from './rate-gate.ts';
import { passedOn } from './relay-response.ts';

export type CallResult =
  | Response
  /** `tokens`: null where they were counted only until they were too many. */
  | { readonly refused: Refused; readonly tokens: number | null }
  /** `counts`: it is charged as a request without tokens. `cause`: what to log. */
  | { readonly error: ProxyError; readonly counts?: true; readonly cause?: unknown; readonly headers?: HeaderList };

/**
 * Request headers that go on: the client's key, its cookies and its address are between it and us, its organization and
 * project would be ours, and what its library tells about itself (x-stainless-*) is nobody's need.
 */
const forwardedHeaders = ['accept', 'openai-beta'] as const;
const idempotencyHeader = 'idempotency-key';
/** Of a client; a longer one goes on as its hash. */
const longestKey = 200;
const hasControl = /[^\t\x20-\x7e\x80-\xff]/;
/** Other bytes do not reach us whole, so that two keys could become one. */
const visible = /^[\x21-\x7e]+$/;

const whole = (ms: number) => Math.max(0, Math.round(ms));

/** All our clients share one key at the upstream: what one of them calls a request is not what another does. */
const idempotencyKey = (token: ApiToken, value: string): string =>
  `${token.id}-${value.length > longestKey ? hash('sha256', value, 'hex') : value}`;

function requestHeaders(request: Request, { token, passed }: ProxyAsker): string[] {
  const headers = ['content-type', 'application/json', gatewayHeader, passed];
  const key = request.headers.get(idempotencyHeader);
  if (key !== null) headers.push(idempotencyHeader, idempotencyKey(token, key));
  for (const name of forwardedHeaders) {
    const value = request.headers.get(name);
    if (value !== null && !hasControl.test(value)) headers.push(name, value);
  }
  return headers;
}

/** The refusal for what no upstream has answered; null where an answer can go on as it is. */
function faultOf(outcome: Outcome, upstreamAsked: boolean): ProxyError | null {
  if (outcome.kind !== 'fault') return isUnusable(outcome.status) ? proxyErrors.upstream_error() : null;
  if (!upstreamAsked) return proxyErrors.no_upstream();
  if (outcome.fault === 'timeout') return proxyErrors.upstream_timeout();
  return outcome.fault === 'too_large' ? proxyErrors.upstream_too_large() : proxyErrors.upstream_error();
}

/** A body that is read in one step. */
const smallBody = 64 * 1024;
/** Texts of a body take up to four times its size of the heap, which is bounded: more are put off. */
const mostParsed = 32 * 1024 * 1024;
const mostSent = 256 * 1024 * 1024;

const stateOfEnd: Readonly<Record<StreamEnd, UsageState>> = {
  done: 'done',
  cancelled: 'cancelled',
  reset: 'failed',
  idle: 'failed',
};

/** One whose token is good. */
export type ProxyAsker = Asker & {
  readonly token: ApiToken;
  readonly endpoint: Endpoint;
  /** What upstreams are told of the gateways on its way. */
  readonly passed: string;
};

/** One POST of the proxy, from its body to its answer. */
export function openProxyCall(deps: GatewayDeps) {
  const { runtime, gate, upstreams, usage } = deps;
  const { settings, metrics, log } = runtime;
  const forwarding = { metrics, warn: openCountedWarning(log, 'an upstream did not answer a gateway request') };

  const readLarge = openLargeBodies();
  /** Bytes of large bodies: that are being read and counted, and that an upstream is still being asked with. */
  const held = { parsed: 0, sent: 0 };

  /** The smallest number of tokens that a minute of this request's keys ever allows. */
  function mostTokens({ token }: ProxyAsker, modelKey: string): number {
    let most = Number.POSITIVE_INFINITY;
    if (!settings.get(rateLimitSettings.enabled)) return most;
    const { user_tpm, token_tpm, model_tpm } = limitsOf(settings, token, modelKey);
    for (const limit of [user_tpm, token_tpm, model_tpm]) if (limit > 0 && limit < most) most = limit;
    return most;
  }

  /** What the limiter is asked for: input and most output. Above `most` its input is not counted to the end. */
  async function price(wanted: AskedFor, route: ModelRoute, most: number) {
    const each =
      wanted.maxOutput ?? route.config?.max_output_tokens ?? settings.get(upstreamSettings.default_max_output_tokens);
    const output = each * wanted.answers;
    const mostInput = most - output - wanted.extraTokens;
    const counting = countTokens(wanted.texts, mostInput);
    const counted = typeof counting === 'number' ? counting : await counting;
    return { input: counted + wanted.extraTokens, output, partly: counted > mostInput };
  }

  return async (of: ProxyAsker, request: Request, cancel: Cancel): Promise<CallResult> => {
    if (!upstreams.configured()) return { error: proxyErrors.no_upstream() };
    const key = request.headers.get(idempotencyHeader);
    if (key !== null && !visible.test(key)) return { error: proxyErrors.bad_idempotency_key(), counts: true };
    const bytes = await (request as Request & { bytes(): Promise<Uint8Array> }).bytes();
    const size = bytes.byteLength > smallBody ? bytes.byteLength : 0;
    if (size > 0 && (held.parsed + size > mostParsed || held.sent + size > mostSent))
      return { error: proxyErrors.too_many_bodies() };
    held.parsed += size;
    held.sent += size;
    let counting = true;
    const counted = () => {
      if (counting) held.parsed -= size;
      counting = false;
    };
    try {
      return await carryOut(of, request, bytes, cancel, counted);
    } finally {
      counted();
      held.sent -= size;
    }
  };

  /** `counted` is called when what was parsed is needed no more. */
  async function carryOut(
    of: ProxyAsker,
    request: Request,
    bytes: Uint8Array,
    cancel: Cancel,
    counted: () => void,
  ): Promise<CallResult> {
    const isGone = () => cancel.cancelled;
    const large = bytes.byteLength > smallBody;
    const wanted = large ? await readLarge(of.endpoint, bytes, isGone) : readRequest(of.endpoint, bytes);
    if ('status' in wanted) return { error: wanted, counts: true };
    const { model } = wanted;
    const known = upstreams.routeOf(model);
    if (!known) return { error: proxyErrors.unknown_model(model), counts: true };
    if (known.candidates.length === 0) return { error: proxyErrors.no_upstream() };
    const { key } = known;
    const { input, output, partly } = await price(wanted, known, mostTokens(of, key));
    const cost = input + output;
    if (cost > maxCost) return { error: proxyErrors.too_expensive(wanted.maxField), counts: true };
    const asking = gate.admit({ token: of.token, address: of.address, model: key, tokens: cost });
    const verdict = asking instanceof Promise ? await asking : asking;
    if (!verdict.admitted) return { refused: verdict, tokens: partly ? null : cost };
    // Let through although no limit allows it, as nobody could be asked: the books have the whole of it.
    const estimated = partly ? (await price(wanted, known, Number.POSITIVE_INFINITY)).input : input;
    // The settings can have changed since: what is in force now is asked.
    const route = upstreams.routeOf(model);
    if (!route || route.candidates.length === 0) return { error: proxyErrors.no_upstream() };

    const entry = usage.open({
      id: of.id,
      user_id: of.token.userId,
      token_id: of.token.id,
      endpoint: of.endpoint,
      model: key,
      stream: wanted.stream,
      estimated_input_tokens: estimated,
      max_output_tokens: output,
      started_at: Date.now(),
    });
    wanted.texts.length = 0;
    counted();
    return exchange({ of, entry, verdict, route, model, bytes, headers: requestHeaders(request, of), wanted, cancel });
  }

  type Exchange = {
    of: ProxyAsker;
    entry: UsageEntry;
    verdict: Admitted;
    route: ModelRoute;
    model: string;
    bytes: Uint8Array;
    headers: readonly string[];
    wanted: AskedFor;
    cancel: Cancel;
  };

  async function exchange(exchange: Exchange): Promise<CallResult> {
    const { of, entry, verdict, route, model, bytes, headers, wanted, cancel } = exchange;
    let forwarded: Forwarded | null = null;
    let firstByteMs: number | null = null;
    const reader = openUsageReader();
    const redactor = upstreams.redactor();

    const end = (state: UsageState, measured: Measured | null, status: number | null): void => {
      usage.end(entry, {
        state,
        upstream: forwarded?.upstream?.config.name ?? null,
        upstream_model: forwarded?.model ?? null,
        http_status: status,
        attempts: forwarded?.attempts ?? 0,
        input_tokens: measured ? (measured.tokens.input ?? entry.row.estimated_input_tokens) : null,
        output_tokens: measured?.tokens.output ?? null,
        usage_source: measured?.source ?? null,
        first_byte_ms: firstByteMs,
        duration_ms: whole(performance.now() - of.started),
        ended_at: Date.now(),
      });
    };
    const measureFailed = (error: unknown): null => {
      log.error({ err: error, trace: of.id }, 'the usage of a gateway request could not be read');
      return null;
    };
    const onStreamEnd = (how: StreamEnd): void => {
      const { health } = forwarded!.upstream!;
      if (how === 'reset' || how === 'idle') health.failed(performance.now());
      else health.succeeded();
      reader
        .measure()
        .catch(measureFailed)
        .then((measured) => end(stateOfEnd[how], measured, 200));
    };

    const asked: Asked & { body: Uint8Array } = {
      method: 'POST',
      path: of.endpoint,
      headers,
      body: bytes,
      stream: wanted.stream,
      redactor,
      onChunk: reader.read,
      // An upstream's stream can end before whoever asked has been told of its beginning.
      onStreamEnd: (how) => void setImmediate(onStreamEnd, how),
    };
    // Without its row the answer can not go out: the upstream need not go on.
    let notRecorded: unknown = null;
    const committed = entry.committed.catch((error: unknown) => {
      notRecorded = error;
      cancelNow(cancel);
    });
    const maxAttempts = settings.get(upstreamSettings.retry_attempts);
    forwarded = await forward(forwarding, { route, model, maxAttempts, asked }, cancel);
    const { outcome, upstream } = forwarded;
    const fault = faultOf(outcome, upstream !== null);
    const cancelled = outcome.kind === 'fault' && outcome.fault === 'cancelled';
    firstByteMs = whole(performance.now() - of.started);
    const rate: HeaderList = [];
    pushRateHeaders(rate, verdict);

    if (fault || outcome.kind === 'fault') {
      const error = cancelled ? proxyErrors.client_gone() : (fault ?? proxyErrors.upstream_error());
      end(cancelled ? 'cancelled' : 'failed', null, cancelled ? null : error.status);
      await committed;
      if (notRecorded !== null) return { error: proxyErrors.not_recorded(), cause: notRecorded };
      return { error, headers: rate };
    }
    const ok = outcome.status < 400;
    if (outcome.kind === 'whole') {
      const measuring = ok ? measureAnswer(outcome.body) : null;
      const measured = measuring instanceof Promise ? await measuring.catch(measureFailed) : measuring;
      end(ok ? 'done' : 'failed', measured, outcome.status);
    }
    await committed;
    if (notRecorded !== null) {
      if (outcome.kind === 'stream') outcome.readable.cancel().catch(() => {});
      return { error: proxyErrors.not_recorded(), cause: notRecorded };
    }
    const answered: HeaderList = [['x-request-id', of.id], ...(commonHeaders as HeaderList), ...rate];
    const passed = passedOn(outcome, redactor);
    answered.push(...passed.headers);
    // A reverse proxy before us would gather the pieces otherwise.
    if (outcome.kind === 'stream') answered.push(['x-accel-buffering', 'no']);
    metrics.gatewayFirstByteSeconds.labels(of.endpoint).observe((performance.now() - of.started) / 1000);
    return new FastResponse(passed.body, { status: outcome.status, headers: answered });
  }
}
