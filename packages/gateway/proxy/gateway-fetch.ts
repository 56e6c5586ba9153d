import { AppError } from '@tradepost/core';
import { clientAddress } from '@tradepost/http';
import { lostConnection } from '@tradepost/postgres';
import type { Refused } from '@tradepost/rate-limiter';
import { openCountedWarning } from '@tradepost/runtime';
import { FastResponse, FastURL } from 'srvx';
import { type Endpoint, endpoints } from '../messages/chat-request.ts';
import { type ProxyError, proxyErrors } from '../messages/openai-errors.ts';
import type { TokenRefusal } from '../tokens/api-token.ts';
import { type Cancel, cancelNow } from '../upstreams/ask-upstream.ts';
import { newUsageId } from '../usage/usage-id.ts';
import type { Asker, GatewayDeps, ProxyAsker } from './gateway-deps.ts';
import { gatewayHeader, openLoopGuard } from './gateway-loop.ts';
import { openModelList } from './model-list.ts';
import { ProxyAnswers } from './proxy-answers.ts';
import { openProxyCall } from './proxy-call.ts';
import { commonHeaders, type HeaderList, pushRateHeaders } from './rate-answer.ts';

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

/** What the requests of a gateway share. */
type Port = {
  readonly deps: GatewayDeps;
  readonly answers: ProxyAnswers;
  readonly call: ReturnType<typeof openProxyCall>;
  readonly loops: ReturnType<typeof openLoopGuard>;
  readonly models: ReturnType<typeof openModelList>;
  /** Logs that a usage row could not be written. */
  readonly warnLost: (fields: Readonly<Record<string, unknown>>) => void;
};

async function listModels({ deps, answers, models }: Port, of: Asker, id: string | null, passed: string) {
  const verdict = await deps.gate.admit({ token: of.token, address: of.address, model: null, tokens: 0 });
  if (!verdict.admitted) return answers.refuseRate(of.endpoint, verdict, of.id);
  const headers: HeaderList = [];
  pushRateHeaders(headers, verdict);
  if (id === null) return answers.respond(of.endpoint, 200, JSON.stringify(await models.list(passed)), of.id, headers);
  const model = await models.find(id, passed);
  return model
    ? answers.respond(of.endpoint, 200, JSON.stringify(model), of.id, headers)
    : answers.refuse(of.endpoint, proxyErrors.unknown_model(id.slice(0, 256)), of.id, headers);
}

async function proxyCall(port: Port, of: Asker, request: Request, passed: string): Promise<Response> {
  const { deps, answers } = port;
  // The tokens are not known yet, so this finds only exhausted requests: worth it where counting tokens is work.
  const large = Number(request.headers.get('content-length') ?? peekFrom) >= peekFrom;
  const refused = large ? deps.gate.peek({ token: of.token, address: of.address, model: null }) : null;
  if (refused) return answers.refuseRate(of.endpoint, refused, of.id);
  const type = request.headers.get('content-type');
  if (type && !jsonMedia.test(type)) return answers.refuseCounted(of, proxyErrors.wrong_media_type());
  const cancel: Cancel = { cancelled: false, onCancel: null };
  const { signal } = request;
  if (signal.aborted) cancelNow(cancel);
  else signal.addEventListener('abort', () => cancelNow(cancel), { once: true });
  const result = await port.call({ ...(of as ProxyAsker), passed }, request, cancel);
  if (result instanceof Response) {
    answers.count(of.endpoint, result.status);
    return result;
  }
  if ('refused' in result) return answers.refuseLimited(of, result.refused, result.tokens);
  if (result.counts) return answers.refuseCounted(of, result.error);
  if (result.cause !== undefined) port.warnLost({ err: result.cause, trace: of.id });
  return answers.refuse(of.endpoint, result.error, of.id, result.headers);
}

/** Answers a request below /v1/: who asks, for what, then the proxy or the list of models. */
async function answerRequest(port: Port, request: Request, path: string, id: string): Promise<Response> {
  const { answers, deps } = port;
  const { method } = request;
  const started = performance.now();
  if (method === 'OPTIONS') return new FastResponse(null, { status: 204, headers: preflightHeaders });
  const endpoint = pathsOf.get(path);
  const listing = path === 'models' || path.startsWith('models/');
  if (!endpoint && !listing) return answers.refuse('unknown', proxyErrors.unknown_path(method, prefix + path), id);
  const label = endpoint ?? 'models';
  const allowed = endpoint ? 'POST' : 'GET';
  if (method !== allowed && !(listing && method === 'HEAD'))
    return answers.refuse(label, proxyErrors.wrong_method(allowed), id, [['allow', `${allowed}, OPTIONS`]]);
  const address = clientAddress(request, deps.runtime.config.trustedProxies);
  const secret = bearerOf(request);
  const of: Asker = { token: null, address, endpoint: label, id, started };
  // An address that is out of requests sends the database no keys to look up.
  let refused: Refused | null = null;
  const mayQuery = () => {
    refused = deps.gate.peek({ token: null, address, model: null });
    return refused === null;
  };
  const verified = secret === null ? null : deps.tokens.verify(secret, mayQuery);
  const found = verified instanceof Promise ? await verified : verified;
  if (refused !== null) return answers.refuseRate(label, refused, id);
  if (found === null) return answers.refuseCounted(of, proxyErrors.missing_key());
  if (typeof found === 'string') return answers.refuseCounted(of, keyErrors[found]());
  of.token = found;
  const passed = port.loops.mark(request.headers.get(gatewayHeader));
  if (passed === null) return answers.refuseCounted(of, proxyErrors.loop_detected());
  if (endpoint) return proxyCall(port, of, request, passed);
  let model: string | null = null;
  try {
    if (path.length > 'models/'.length) model = decodeURIComponent(path.slice('models/'.length));
  } catch {
    return answers.refuseCounted(of, proxyErrors.unknown_path(method, prefix + path));
  }
  return listModels(port, of, model, passed);
}

/**
 * The gateway's port: /v1/* is the proxy, everything else the application. The id of every answer (`x-request-id`) is that of
 * its row in gateway.usage, where it has one.
 */
export function gatewayFetch(deps: GatewayDeps): (request: Request) => Response | Promise<Response> {
  const { runtime, app } = deps;
  const { log } = runtime;
  const answers = new ProxyAnswers(runtime.metrics, deps.gate);
  const port: Port = {
    ...{ deps, answers },
    call: openProxyCall(deps),
    loops: openLoopGuard(),
    models: openModelList(deps.upstreams),
    warnLost: openCountedWarning(log, 'a gateway request could not be recorded'),
  };
  const warnUnavailable = openCountedWarning(log, 'a gateway request found no database');

  return (request) => {
    const path = pathOf(request);
    if (!path.startsWith(prefix)) return app(request);
    const id = newUsageId();
    if (runtime.isDatabaseAway()) return answers.refuse('unknown', proxyErrors.unavailable(), id);
    return answerRequest(port, request, path.slice(prefix.length), id).catch((error: unknown) => {
      const where = `${request.method} /v1`;
      if (lostConnection(error) || (error instanceof AppError && error.status === 503)) {
        warnUnavailable({ err: error, trace: id, where });
        return answers.refuse('unknown', proxyErrors.unavailable(), id);
      }
      log.error({ err: error, trace: id, where }, 'a gateway request failed');
      return answers.refuse('unknown', proxyErrors.internal(), id);
    });
  };
}
