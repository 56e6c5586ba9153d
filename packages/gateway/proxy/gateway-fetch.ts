import { AppError } from '@tradepost/core';
import { clientAddress } from '@tradepost/http';
import { databaseUnavailable } from '@tradepost/postgres';
import type { Refused } from '@tradepost/rate-limiter';
import { inTrace, openCountedWarning, serverOperation } from '@tradepost/runtime';
import { FastResponse, FastURL } from 'srvx';
import { type Endpoint, endpoints } from '../messages/chat-request.ts';
import { type ProxyError, proxyErrors } from '../messages/openai-errors.ts';
import type { TokenRefusal } from '../tokens/api-token.ts';
import { type Cancel, cancelNow } from '../upstreams/send-to-upstream.ts';
import { newUsageId } from '../usage/usage-id.ts';
import type { Caller, GatewayDeps, ProxyCaller } from './gateway-deps.ts';
import { gatewayHeader, openLoopGuard } from './gateway-loop.ts';
import { openModelList } from './model-list.ts';
import { ProxyAnswers } from './proxy-answers.ts';
import { openProxyCall } from './proxy-call.ts';
import { commonHeaders, type HeaderList, pushRateHeaders } from './rate-answer.ts';

const prefix = '/v1/';
const pathsOf = new Map<string, Endpoint>(endpoints.map((endpoint) => [endpoint, endpoint]));
const operations = new Map(endpoints.map((path) => [path as string, serverOperation('POST', prefix + path)]));
const modelsOperation = serverOperation('GET', `${prefix}models`);
const modelOperation = serverOperation('GET', `${prefix}models/:model`);
const otherOperation = serverOperation('_OTHER', null);

/** What the span of a request is about. A path that clients invent names no span. */
function operationOf(method: string, path: string) {
  if (method === 'POST') return operations.get(path) ?? otherOperation;
  if (method !== 'GET') return otherOperation;
  if (path === 'models') return modelsOperation;
  return path.startsWith('models/') ? modelOperation : otherOperation;
}

const preflightHeaders: HeaderList = [
  ...commonHeaders,
  ['access-control-allow-methods', 'GET, POST, OPTIONS'],
  // Clients of OpenAI send about a dozen headers of their own. `*` does not cover Authorization.
  ['access-control-allow-headers', '*, Authorization'],
  ['access-control-max-age', '86400'],
];
const keyErrors: Readonly<Record<TokenRefusal, () => ProxyError>> = {
  unknown: proxyErrors.unknown_key,
  revoked: proxyErrors.revoked_key,
  expired: proxyErrors.expired_key,
  disabled: proxyErrors.disabled_account,
};
/** From this size on, a caller without requests left is refused before the body is parsed and its tokens are counted. */
const peekFrom = 32 * 1024;
const jsonMedia = /^application\/([\w.+-]+\+)?json\b/i;

/** The path of a request. The transport has parsed it already; building a URL is slower. */
const pathOf = (request: Request): string =>
  ((request as { _url?: URL })._url ?? (new FastURL(request.url) as unknown as URL)).pathname;

function bearerOf(request: Request): string | null {
  const header = request.headers.get('authorization');
  if (!header || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  return header.slice(7).trim() || null;
}

/** Shared by all requests of a gateway. */
type Port = {
  readonly deps: GatewayDeps;
  readonly answers: ProxyAnswers;
  readonly call: ReturnType<typeof openProxyCall>;
  readonly loops: ReturnType<typeof openLoopGuard>;
  readonly models: ReturnType<typeof openModelList>;
  /** Warns that a request could not be recorded. */
  readonly warnNotRecorded: (fields: Readonly<Record<string, unknown>>) => void;
};

/** Answers the list of models, or one model. `passed`: the gateways that the request has passed. */
async function listModels({ deps, answers, models }: Port, caller: Caller, id: string | null, passed: string) {
  const verdict = await deps.gate.admit({ token: caller.token, address: caller.address, model: null, tokens: 0 });
  if (!verdict.admitted) return answers.refuseRate(caller.endpoint, verdict, caller.id);
  const headers: HeaderList = [];
  pushRateHeaders(headers, verdict);
  if (id === null)
    return answers.respond(caller.endpoint, 200, JSON.stringify(await models.list(passed)), caller.id, headers);
  const model = await models.find(id, passed);
  return model
    ? answers.respond(caller.endpoint, 200, JSON.stringify(model), caller.id, headers)
    : answers.refuse(caller.endpoint, proxyErrors.unknown_model(id.slice(0, 256)), caller.id, headers);
}

async function proxyCall(port: Port, caller: ProxyCaller, request: Request): Promise<Response> {
  const { deps, answers } = port;
  // The tokens are not counted yet, so this finds only exhausted limits of requests. It saves the work of counting a
  // large body.
  const isLarge = Number(request.headers.get('content-length') ?? peekFrom) >= peekFrom;
  const refused = isLarge ? deps.gate.peek({ token: caller.token, address: caller.address, model: null }) : null;
  if (refused) return answers.refuseRate(caller.endpoint, refused, caller.id);
  const type = request.headers.get('content-type');
  if (type && !jsonMedia.test(type)) return answers.refuseCharged(caller, proxyErrors.wrong_media_type());
  const cancel: Cancel = { cancelled: false, onCancel: null };
  const { signal } = request;
  if (signal.aborted) cancelNow(cancel);
  else signal.addEventListener('abort', () => cancelNow(cancel), { once: true });
  const result = await port.call(caller, request, cancel);
  if (result instanceof Response) {
    answers.count(caller.endpoint, result.status);
    return result;
  }
  if ('refused' in result) return answers.refuseLimited(caller, result.refused, result.cost);
  if (result.isCharged) return answers.refuseCharged(caller, result.error);
  if (result.cause !== undefined) port.warnNotRecorded({ err: result.cause, trace: caller.id });
  return answers.refuse(caller.endpoint, result.error, caller.id, result.headers);
}

/** Answers a request below /v1/: finds the endpoint and the token, then calls the proxy or lists models. */
async function answerRequest(port: Port, request: Request, path: string, id: string): Promise<Response> {
  const { answers, deps } = port;
  const { method } = request;
  const started = performance.now();
  if (method === 'OPTIONS') return new FastResponse(null, { status: 204, headers: preflightHeaders });
  const endpoint = pathsOf.get(path);
  const isModels = path === 'models' || path.startsWith('models/');
  if (!endpoint && !isModels) return answers.refuse('unknown', proxyErrors.unknown_path(method, prefix + path), id);
  const label = endpoint ?? 'models';
  const allowed = endpoint ? 'POST' : 'GET';
  if (method !== allowed && !(isModels && method === 'HEAD'))
    return answers.refuse(label, proxyErrors.wrong_method(allowed), id, [['allow', `${allowed}, OPTIONS`]]);
  const address = clientAddress(request, deps.runtime.config.trustedProxies);
  const secret = bearerOf(request);
  const caller: Caller = { token: null, address, endpoint: label, id, started };
  // An address without requests left causes no queries.
  let refused: Refused | null = null;
  const mayQuery = () => {
    refused = deps.gate.peek({ token: null, address, model: null });
    return refused === null;
  };
  const verified = secret === null ? null : deps.tokens.verify(secret, mayQuery);
  const found = verified instanceof Promise ? await verified : verified;
  if (refused !== null) return answers.refuseRate(label, refused, id);
  if (found === null) return answers.refuseCharged(caller, proxyErrors.missing_key());
  if (typeof found === 'string') return answers.refuseCharged(caller, keyErrors[found]());
  caller.token = found;
  const passed = port.loops.mark(request.headers.get(gatewayHeader));
  if (passed === null) return answers.refuseCharged(caller, proxyErrors.loop_detected());
  if (endpoint) return proxyCall(port, { ...caller, token: found, endpoint, passedGateways: passed }, request);
  let model: string | null = null;
  try {
    if (path.length > 'models/'.length) model = decodeURIComponent(path.slice('models/'.length));
  } catch {
    return answers.refuseCharged(caller, proxyErrors.unknown_path(method, prefix + path));
  }
  return listModels(port, caller, model, passed);
}

/**
 * The handler of the gateway port: /v1/* is the proxy, other paths are the application. The `x-request-id` of an answer is the id
 * of its row in gateway.usage, if it has one.
 */
export function gatewayFetch(deps: GatewayDeps): (request: Request) => Response | Promise<Response> {
  const { runtime, app } = deps;
  const { log } = runtime;
  const answers = new ProxyAnswers(runtime.metrics, deps.gate);
  const port: Port = {
    deps,
    answers,
    call: openProxyCall(deps),
    loops: openLoopGuard(),
    models: openModelList(deps.upstreams),
    warnNotRecorded: openCountedWarning(log, 'a gateway request could not be recorded'),
  };
  const warnUnavailable = openCountedWarning(log, 'a gateway request found no database');

  return (request) => {
    const path = pathOf(request);
    if (!path.startsWith(prefix)) return app(request);
    const id = newUsageId();
    if (runtime.isDatabaseAway()) return answers.refuse('unknown', proxyErrors.unavailable(), id);
    const rest = path.slice(prefix.length);
    const failed = (error: unknown) => {
      const where = `${request.method} /v1`;
      if (databaseUnavailable(error) || (error instanceof AppError && error.status === 503)) {
        warnUnavailable({ err: error, trace: id, where });
        return answers.refuse('unknown', proxyErrors.unavailable(), id);
      }
      log.error({ err: error, trace: id, where }, 'a gateway request failed');
      return answers.refuse('unknown', proxyErrors.internal(), id);
    };
    const answer = () => answerRequest(port, request, rest, id).catch(failed);
    return inTrace(request.headers.get('traceparent'), operationOf(request.method, rest), answer);
  };
}
