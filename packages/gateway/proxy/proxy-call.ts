import { hash } from 'node:crypto';
import { maxCost } from '@tradepost/rate-limiter';
import { openCountedWarning } from '@tradepost/runtime';
import { gatewayMetrics } from '../gateway-metrics.ts';
import { readRequest } from '../messages/chat-request.ts';
import { proxyErrors } from '../messages/openai-errors.ts';
import type { ApiToken } from '../tokens/api-token.ts';
import type { Cancel } from '../upstreams/send-to-upstream.ts';
import { Exchange, type ExchangeDeps } from './exchange.ts';
import type { CallResult, GatewayDeps, ProxyCaller } from './gateway-deps.ts';
import { gatewayHeader } from './gateway-loop.ts';
import { openLargeBodies } from './large-bodies.ts';
import { priceRequest, smallestTokenLimit } from './price-request.ts';

/**
 * Request headers that are forwarded. The key, cookies and address of the client stay private. Organization and project
 * headers would apply to the account of the gateway. Upstreams do not need what a client library reports of itself
 * (x-stainless-*).
 */
const forwardedHeaders = ['accept', 'openai-beta'] as const;
const idempotencyHeader = 'idempotency-key';
/** A longer key of a client is forwarded as its hash. */
const maxKeyLength = 200;
const hasControl = /[^\t\x20-\x7e\x80-\xff]/;
/** Other bytes arrive incomplete, so two keys could become equal. */
const visible = /^[\x21-\x7e]+$/;

/** All clients share the upstream key of the gateway, so keys of different tokens must differ. */
const idempotencyKey = (token: ApiToken, value: string): string =>
  `${token.id}-${value.length > maxKeyLength ? hash('sha256', value, 'hex') : value}`;

function requestHeaders(request: Request, { token, passedGateways }: ProxyCaller): string[] {
  const headers = ['content-type', 'application/json', gatewayHeader, passedGateways];
  const key = request.headers.get(idempotencyHeader);
  if (key !== null) headers.push(idempotencyHeader, idempotencyKey(token, key));
  for (const name of forwardedHeaders) {
    const value = request.headers.get(name);
    if (value !== null && !hasControl.test(value)) headers.push(name, value);
  }
  return headers;
}

/** Bodies up to this size are read in one step. */
const maxSmallBody = 64 * 1024;
/** Bytes of large bodies that are parsed at the same time. Their texts take up to four times as much of the heap. */
const maxParsed = 32 * 1024 * 1024;
/** Bytes of large bodies that are being forwarded at the same time. */
const maxSent = 256 * 1024 * 1024;

type CallDeps = GatewayDeps & ExchangeDeps & { readonly readLarge: ReturnType<typeof openLargeBodies> };

/** `onCounted` is called when the parsed body is no longer needed. */
async function handleCall(
  deps: CallDeps,
  caller: ProxyCaller,
  request: Request,
  bytes: Uint8Array,
  cancel: Cancel,
  onCounted: () => void,
): Promise<CallResult> {
  const { gate, upstreams, usage } = deps;
  const { settings } = deps.runtime;
  const isGone = () => cancel.cancelled;
  const isLarge = bytes.byteLength > maxSmallBody;
  const facts = isLarge ? await deps.readLarge(caller.endpoint, bytes, isGone) : readRequest(caller.endpoint, bytes);
  if ('status' in facts) return { error: facts, isCharged: true };
  const { model } = facts;
  const known = upstreams.routeOf(model);
  if (!known) return { error: proxyErrors.unknown_model(model), isCharged: true };
  if (known.candidates.length === 0) return { error: proxyErrors.no_upstream() };
  const { key } = known;
  const { input, output, isPartial, assumed } = await priceRequest(
    settings,
    facts,
    known,
    smallestTokenLimit(settings, caller.token, key),
  );
  const cost = input + output;
  if (cost > maxCost) return { error: proxyErrors.too_expensive(facts.maxField), isCharged: true };
  const checking = gate.admit({ token: caller.token, address: caller.address, model: key, tokens: cost });
  const verdict = checking instanceof Promise ? await checking : checking;
  if (!verdict.admitted) return { refused: verdict, cost: { tokens: isPartial ? null : cost, assumed } };
  // Without an answer of its store, the limiter admits even a request above its limit. Then the whole input is counted
  // for the usage record.
  const estimated = isPartial ? (await priceRequest(settings, facts, known, Number.POSITIVE_INFINITY)).input : input;
  // The settings can have changed during the counting.
  const route = upstreams.routeOf(model);
  if (!route || route.candidates.length === 0) return { error: proxyErrors.no_upstream() };

  const entry = usage.open({
    id: caller.id,
    user_id: caller.token.userId,
    token_id: caller.token.id,
    endpoint: caller.endpoint,
    model: key,
    stream: facts.stream,
    estimated_input_tokens: estimated,
    max_output_tokens: output,
    started_at: Date.now(),
  });
  facts.texts.length = 0;
  onCounted();
  const headers = requestHeaders(request, caller);
  return new Exchange(deps, { caller, entry, verdict, route, model, bytes, headers, facts, cancel }).run();
}

/** Returns the function that handles one POST of the proxy, from its body to its answer. */
export function openProxyCall(given: GatewayDeps) {
  const { log } = given.runtime;
  const metrics = gatewayMetrics(given.runtime.metrics);
  const deps: CallDeps = {
    ...given,
    firstByteSeconds: metrics.firstByteSeconds,
    forwarding: { metrics, warn: openCountedWarning(log, 'an upstream did not answer a gateway request') },
    readLarge: openLargeBodies(),
  };
  /** Bytes of large bodies that are read and counted now, and of those that are being forwarded. */
  const held = { parsed: 0, sent: 0 };

  return async (caller: ProxyCaller, request: Request, cancel: Cancel): Promise<CallResult> => {
    if (!deps.upstreams.configured()) return { error: proxyErrors.no_upstream() };
    const key = request.headers.get(idempotencyHeader);
    if (key !== null && !visible.test(key)) return { error: proxyErrors.bad_idempotency_key(), isCharged: true };
    const bytes = await (request as Request & { bytes(): Promise<Uint8Array> }).bytes();
    const size = bytes.byteLength > maxSmallBody ? bytes.byteLength : 0;
    if (size > 0 && (held.parsed + size > maxParsed || held.sent + size > maxSent))
      return { error: proxyErrors.too_many_bodies() };
    held.parsed += size;
    held.sent += size;
    let isCounting = true;
    const onCounted = () => {
      if (isCounting) held.parsed -= size;
      isCounting = false;
    };
    try {
      return await handleCall(deps, caller, request, bytes, cancel, onCounted);
    } finally {
      onCounted();
      held.sent -= size;
    }
  };
}
