import { AppError } from '@tradepost/core';
import { clientAddress } from '@tradepost/http';
import { lostConnection } from '@tradepost/postgres';
import type { Refused } from '@tradepost/rate-limiter';
import { openCountedWarning } from '@tradepost/runtime';
import { FastResponse, FastURL } from 'srvx';
import { type Endpoint, endpoints } from '../messages/chat-request.ts';
import { errorBody, type ProxyError, proxyErrors } from '../messages/openai-errors.ts';
import type { TokenRefusal } from '../tokens/api-token.ts';
import { type Cancel, cancelNow } from '../upstreams/ask-upstream.ts';
import { newUsageId } from '../usage/usage-id.ts';
import type { Asker, GatewayDeps } from './gateway-deps.ts';
import { gatewayHeader, openLoopGuard } from './gateway-loop.ts';
import { openModelList } from './model-list.ts';
import { openProxyCall, type ProxyAsker } from './proxy-call.ts';
import { commonHeaders, type HeaderList, jsonType, pushRateHeaders, refusalResponse } from './rate-answer.ts';

const prefix = '/v1/';
const pathsOf = new Map<string, Endpoint>(endpoints.map((endpoint) => [endpoint, endpoint]));
const preflightHeaders: HeaderList = [
  ...(commonHeaders as HeaderList),
  ['access-control-allow-methods', 'GET, POST, OPTIONS'],
  // The clients of OpenAI send a dozen of their own; `*` does not cover Authorization.
  ['access-control-allow-headers', '*, Authorization'],
  ['access-control-max-age', '86400'],
];
const keyErrors: Readonly<Record<TokenRefusal, () => ProxyError>> = {
  unknown: proxyErrors.unknown_key,
  revoked: proxyErrors.revoked_key,
  expired: proxyErrors.expired_key,
  disabled: proxyErrors.disabled_account,
};
/** Bytes of a body from which whoever is out of requests is refused before it is parsed and its tokens are counted. */
const peekFrom = 32 * 1024;
const jsonMedia = /^application\/([\w.+-]+\+)?json\b/i;

/** The transport has it in parts; a URL built from text is the slow way. */
const pathOf = (request: Request): string =>
  ((request as { _url?: URL })._url ?? (new FastURL(request.url) as unknown as URL)).pathname;

function bearerOf(request: Request): string | null {
  const header = request.headers.get('authorization');
  if (!header || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  return header.slice(7).trim() || null;
}

/** Of every 503, in seconds. */
const retrySoon: [string, string] = ['retry-after', '1'];

/**
 * The gateway's port: /v1/* is the proxy, everything else the application. The id of every answer (`x-request-id`) is that of
 * its row in gateway.usage, where it has one.
 */
export function gatewayFetch(deps: GatewayDeps): (request: Request) => Response | Promise<Response> {
  const { runtime, gate, tokens, upstreams, app } = deps;
  const { log, metrics, config } = runtime;
  const call = openProxyCall(deps);
  const loops = openLoopGuard();
  const models = openModelList(upstreams);
  const warnUnavailable = openCountedWarning(log, 'a gateway request found no database');
  const warnLost = openCountedWarning(log, 'a gateway request could not be recorded');

  const respond = (endpoint: string, status: number, body: string, id: string, extra?: HeaderList): Response => {
    metrics.gatewayRequests.labels(endpoint, String(status)).inc();
    const headers: HeaderList = [jsonType, ['x-request-id', id], ...(commonHeaders as HeaderList)];
    if (extra) headers.push(...extra);
    return new FastResponse(body, { status, headers });
  };
  const refuse = (endpoint: string, error: ProxyError, id: string, extra?: HeaderList): Response =>
    respond(endpoint, error.status, errorBody(error), id, error.status === 503 ? [retrySoon, ...(extra ?? [])] : extra);
  const refuseRate = (endpoint: string, refused: Refused, id: string, tokens: number | null = 0): Response => {
    metrics.gatewayRequests.labels(endpoint, '429').inc();
    return refusalResponse(refused, id, tokens);
  };

  /** A refusal of a request that named no work: it counts as one, so that nobody can send them without end. */
  const counted = async (of: Asker, error: ProxyError): Promise<Response> => {
    const verdict = await gate.admit({ token: of.token, address: of.address, model: null, tokens: 0 });
    if (!verdict.admitted) return refuseRate(of.endpoint, verdict, of.id);
    const headers: HeaderList = [];
    pushRateHeaders(headers, verdict);
    return refuse(of.endpoint, error, of.id, headers);
  };

  /** What no limit ever allows costs a request, too; whoever is out of those is told that instead. */
  const refuseCounted = async (of: Asker, refused: Refused, tokens: number | null): Promise<Response> => {
    if (refused.waitMs !== null) return refuseRate(of.endpoint, refused, of.id, tokens);
    const verdict = await gate.admit({ token: of.token, address: of.address, model: null, tokens: 0 });
    return verdict.admitted ? refuseRate(of.endpoint, refused, of.id, tokens) : refuseRate(of.endpoint, verdict, of.id);
  };

  async function listModels(of: Asker, id: string | null, passed: string): Promise<Response> {
    const verdict = await gate.admit({ token: of.token, address: of.address, model: null, tokens: 0 });
    if (!verdict.admitted) return refuseRate(of.endpoint, verdict, of.id);
    const headers: HeaderList = [];
    pushRateHeaders(headers, verdict);
    if (id === null) return respond(of.endpoint, 200, JSON.stringify(await models.list(passed)), of.id, headers);
    const model = await models.find(id, passed);
    return model
      ? respond(of.endpoint, 200, JSON.stringify(model), of.id, headers)
      : refuse(of.endpoint, proxyErrors.unknown_model(id.slice(0, 256)), of.id, headers);
  }

  async function proxied(of: Asker, request: Request, passed: string): Promise<Response> {
    // Its wait is of requests only, as the tokens are not known yet: worth it where counting them is work.
    const large = Number(request.headers.get('content-length') ?? peekFrom) >= peekFrom;
    const refused = large ? gate.peek({ token: of.token, address: of.address, model: null }) : null;
    if (refused) return refuseRate(of.endpoint, refused, of.id);
    const type = request.headers.get('content-type');
    if (type && !jsonMedia.test(type)) return counted(of, proxyErrors.wrong_media_type());
    const cancel: Cancel = { cancelled: false, onCancel: null };
    const { signal } = request;
    if (signal.aborted) cancelNow(cancel);
    else signal.addEventListener('abort', () => cancelNow(cancel), { once: true });
    const result = await call({ ...(of as ProxyAsker), passed }, request, cancel);
    if (result instanceof Response) {
      metrics.gatewayRequests.labels(of.endpoint, String(result.status)).inc();
      return result;
    }
    if ('refused' in result) return refuseCounted(of, result.refused, result.tokens);
    if (result.counts) return counted(of, result.error);
    if (result.cause !== undefined) warnLost({ err: result.cause, trace: of.id });
    return refuse(of.endpoint, result.error, of.id, result.headers);
  }

  async function answer(request: Request, path: string, id: string): Promise<Response> {
    const { method } = request;
    const started = performance.now();
    if (method === 'OPTIONS') return new FastResponse(null, { status: 204, headers: preflightHeaders });
    const endpoint = pathsOf.get(path);
    const listing = path === 'models' || path.startsWith('models/');
    if (!endpoint && !listing) return refuse('unknown', proxyErrors.unknown_path(method, prefix + path), id);
    const label = endpoint ?? 'models';
    const allowed = endpoint ? 'POST' : 'GET';
    if (method !== allowed && !(listing && method === 'HEAD'))
      return refuse(label, proxyErrors.wrong_method(allowed), id, [['allow', `${allowed}, OPTIONS`]]);
    const address = clientAddress(request, config.trustedProxies);
    const secret = bearerOf(request);
    const of: Asker = { token: null, address, endpoint: label, id, started };
    // Whose address is out of requests sends the database no keys to look up.
    let refused: Refused | null = null;
    const mayLookUp = () => {
      refused = gate.peek({ token: null, address, model: null });
      return refused === null;
    };
    const verified = secret === null ? null : tokens.verify(secret, mayLookUp);
    const found = verified instanceof Promise ? await verified : verified;
    if (refused !== null) return refuseRate(label, refused, id);
    if (found === null) return counted(of, proxyErrors.missing_key());
    if (typeof found === 'string') return counted(of, keyErrors[found]());
    of.token = found;
    const passed = loops.mark(request.headers.get(gatewayHeader));
    if (passed === null) return counted(of, proxyErrors.loop_detected());
    if (endpoint) return proxied(of, request, passed);
    let model: string | null = null;
    try {
      if (path.length > 'models/'.length) model = decodeURIComponent(path.slice('models/'.length));
    } catch {
      return counted(of, proxyErrors.unknown_path(method, prefix + path));
    }
    return listModels(of, model, passed);
  }

  return (request) => {
    const path = pathOf(request);
    if (!path.startsWith(prefix)) return app(request);
    const id = newUsageId();
    if (runtime.isDatabaseAway()) return refuse('unknown', proxyErrors.unavailable(), id);
    return answer(request, path.slice(prefix.length), id).catch((error: unknown) => {
      const where = `${request.method} /v1`;
      if (lostConnection(error) || (error instanceof AppError && error.status === 503)) {
        warnUnavailable({ err: error, trace: id, where });
        return refuse('unknown', proxyErrors.unavailable(), id);
      }
      log.error({ err: error, trace: id, where }, 'a gateway request failed');
      return refuse('unknown', proxyErrors.internal(), id);
    });
  };
}
