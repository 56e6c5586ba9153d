import { hash } from 'node:crypto';
import { maxCost } from '@tradepost/rate-limiter';
import { openCountedWarning } from '@tradepost/runtime';
import { gatewayMetrics } from '../gateway-metrics.ts';
import { readRequest } from '../messages/chat-request.ts';
import { proxyErrors } from '../messages/openai-errors.ts';
import type { ApiToken } from '../tokens/api-token.ts';
import type { Cancel } from '../upstreams/ask-upstream.ts';
import { Exchange, type ExchangeDeps } from './exchange.ts';
import type { CallResult, GatewayDeps, ProxyAsker } from './gateway-deps.ts';
import { gatewayHeader } from './gateway-loop.ts';
import { openLargeBodies } from './large-bodies.ts';
import { mostTokens, priceRequest } from './price-request.ts';

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

/** A body that is read in one step. */
const smallBody = 64 * 1024;
/** Texts of a body take up to four times its size of the heap, which is bounded: more are put off. */
const mostParsed = 32 * 1024 * 1024;
const mostSent = 256 * 1024 * 1024;

type CallDeps = GatewayDeps & ExchangeDeps & { readonly readLarge: ReturnType<typeof openLargeBodies> };

/** `counted` is called when what was parsed is needed no more. */
async function carryOut(
  deps: CallDeps,
  of: ProxyAsker,
  request: Request,
  bytes: Uint8Array,
  cancel: Cancel,
  counted: () => void,
): Promise<CallResult> {
  const { gate, upstreams, usage } = deps;
  const { settings } = deps.runtime;
  const isGone = () => cancel.cancelled;
  const large = bytes.byteLength > smallBody;
  const wanted = large ? await deps.readLarge(of.endpoint, bytes, isGone) : readRequest(of.endpoint, bytes);
  if ('status' in wanted) return { error: wanted, counts: true };
  const { model } = wanted;
  const known = upstreams.routeOf(model);
  if (!known) return { error: proxyErrors.unknown_model(model), counts: true };
  if (known.candidates.length === 0) return { error: proxyErrors.no_upstream() };
  const { key } = known;
  const { input, output, partly } = await priceRequest(settings, wanted, known, mostTokens(settings, of.token, key));
  const cost = input + output;
  if (cost > maxCost) return { error: proxyErrors.too_expensive(wanted.maxField), counts: true };
  const asking = gate.admit({ token: of.token, address: of.address, model: key, tokens: cost });
  const verdict = asking instanceof Promise ? await asking : asking;
  if (!verdict.admitted) return { refused: verdict, tokens: partly ? null : cost };
  // Admitted although no limit allows it, as the limiter's store did not answer: usage records the whole input.
  const estimated = partly ? (await priceRequest(settings, wanted, known, Number.POSITIVE_INFINITY)).input : input;
  // The settings can have changed since: the upstreams in force now are asked.
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
  const headers = requestHeaders(request, of);
  return new Exchange(deps, { of, entry, verdict, route, model, bytes, headers, wanted, cancel }).run();
}

/** Answers the function that carries out one POST of the proxy, from its body to its answer. */
export function openProxyCall(given: GatewayDeps) {
  const { log } = given.runtime;
  const metrics = gatewayMetrics(given.runtime.metrics);
  const deps: CallDeps = {
    ...given,
    firstByteSeconds: metrics.firstByteSeconds,
    forwarding: { metrics, warn: openCountedWarning(log, 'an upstream did not answer a gateway request') },
    readLarge: openLargeBodies(),
  };
  /** Bytes of large bodies: those being read and counted, and those an upstream is still being asked with. */
  const held = { parsed: 0, sent: 0 };

  return async (of: ProxyAsker, request: Request, cancel: Cancel): Promise<CallResult> => {
    if (!deps.upstreams.configured()) return { error: proxyErrors.no_upstream() };
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
      return await carryOut(deps, of, request, bytes, cancel, counted);
    } finally {
      counted();
      held.sent -= size;
    }
  };
}
