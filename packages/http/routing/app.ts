import { AppError, type Locale, serviceErrors } from '@tradepost/core';
import { lostConnection, postgresErrors } from '@tradepost/postgres';
import type { Claim, Log, Runtime, StoredAnswer, Write } from '@tradepost/runtime';
import { H3, HTTPError } from 'h3';
import { FastResponse } from 'srvx';
import { tolerantBody, tolerantParams, tolerantQuery } from '../validation/tolerant.ts';
import { parseOrRefuse } from '../validation/validate.ts';
import { bodyLimitOf, openBodyLimits } from './body-limits.ts';
import { anyOrigin, envelope, respond } from './envelope.ts';
import { faultOf, httpErrors } from './errors.ts';
import { idempotencyKeyOf, isNothingDone, openRunOnce } from './idempotent.ts';
import { requestLocale } from './request-locale.ts';
import type { Resource } from './resource.ts';
import type { Caller, Route } from './route.ts';
import { traceIdOf } from './trace.ts';

/** The caller of a token, or null when it is not valid (any more). Answers at once for a token it has seen. */
export type Authenticate = (token: string) => Caller | null | Promise<Caller | null>;

export type AppDeps = {
  routes: readonly Route[];
  resources: readonly Resource[];
  authenticate: Authenticate;
  runtime: Pick<Runtime, 'log' | 'metrics' | 'settings' | 'config' | 'idempotency' | 'isDatabaseAway'>;
};

export type App = {
  fetch: (request: Request) => Response | Promise<Response>;
  routes: readonly Route[];
  /** The most bytes of a request's body, by method and path without query. */
  bodyLimitOf: (method: string, path: string) => number;
};

const slowMs = 1_000;
/** SQLSTATEs of a lock that was not to be had in time, a deadlock's victim, a conflict of two transactions: nothing was done. */
const inTheWay = new Set(['55P03', '40P01', '40001']);
/** Of our own checks: a write that came too late, or by a process that has to be restarted. Nothing was done, and it is logged. */
const tooLate = 'TP503';
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
const noSearch = new URLSearchParams();
const noBytes: Uint8Array = new Uint8Array();
const preflightHeaders: readonly [string, string][] = [
  ['access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE, OPTIONS'],
  ['access-control-allow-headers', 'Content-Type, Authorization, X-Requested-With, X-Request-Id, Idempotency-Key'],
  ['access-control-max-age', '86400'],
];

function refusalOf(error: unknown, traceId: string, log: Log, where: string): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPError && error.status < 500) return faultOf(error.status, traceId);
  if (inTheWay.has(String((error as { code?: unknown } | null)?.code))) return serviceErrors.busy();
  if ((error as { code?: unknown } | null)?.code === tooLate) {
    log.error({ err: error, trace: traceId, where }, 'a write was refused by the books');
    return serviceErrors.busy();
  }
  if (lostConnection(error)) {
    log.warn({ err: error, trace: traceId, where }, 'the database connection was lost during a request');
    return where.startsWith('GET ') ? serviceErrors.busy() : postgresErrors.unknown_outcome();
  }
  const cause = error instanceof HTTPError && error.cause ? error.cause : error;
  log.error({ err: cause, trace: traceId, where }, 'a request failed');
  return httpErrors.internal({ trace: traceId });
}

/** The token of `Authorization: Bearer <token>`; an empty one (a logged-out client sends it) is none. */
function bearerOf(request: Request): string | null {
  const header = request.headers.get('authorization');
  if (!header || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return null;
  return header.slice(7).trim() || null;
}

function admit(route: Route, token: string | null, caller: Caller | null): Caller | null {
  switch (route.auth) {
    case 'public':
      return null;
    case 'optional':
      return caller?.role === 'user' ? caller : null;
    default: {
      if (!caller) throw token ? httpErrors.invalid_token() : httpErrors.not_logged_in();
      const wanted = route.auth === 'shopper' ? 'user' : route.auth === 'staff' ? 'admin' : caller.role;
      if (caller.role !== wanted) throw httpErrors.wrong_account_kind();
      const { permission } = route;
      if (permission && !caller.perms.includes(permission) && !caller.perms.includes('*'))
        throw httpErrors.missing_permission({ permission });
      return caller;
    }
  }
}

function jsonOf(request: Request, text: string): unknown {
  if (text === '') return {};
  const type = request.headers.get('content-type');
  if (type && !/^application\/([\w.+-]+\+)?json\b/i.test(type)) throw httpErrors.unsupported_media_type();
  try {
    return JSON.parse(text);
  } catch {
    throw httpErrors.invalid_json();
  }
}

function searchOf(request: Request): URLSearchParams {
  const mark = request.url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : request.url.slice(mark));
}

/** What a handler is given, with its types put aside. */
type Handled = {
  caller: Caller | null;
  locale: Locale;
  request: Request;
  claim: Claim | null;
  write: Write;
} & Record<string, unknown>;
/** An answer that is ready, as it was or will be kept under its key. */
const kept = Symbol('kept');
type Kept = { [kept]: StoredAnswer & { replayed: boolean } };
const isKept = (data: unknown): data is Kept => data instanceof Object && kept in data;
const replayedHeaders: [string, string][] = [
  ['idempotency-replayed', 'true'],
  ['access-control-expose-headers', 'Idempotency-Replayed'],
];

type Event = { req: Request; context: { params?: Record<string, string> } };

/**
 * Turns one route into its handler: authenticate, then parse, then handle, then wrap. Nothing is awaited that is already
 * there: an answer without I/O is given within the call, which costs the transport a fifth of what a promise does.
 */
function compile(route: Route, deps: AppDeps): (event: Event) => Response | Promise<Response> {
  const { log, metrics, settings, config, idempotency, isDatabaseAway } = deps.runtime;
  const plainWrite: Write = (work) => idempotency.write(null, work);
  const params = route.params ? tolerantParams(route.params) : null;
  const query = route.query ? tolerantQuery(route.query) : null;
  const body = route.body ? tolerantBody(route.body) : null;
  const seconds = metrics.requestSeconds.labels(route.method, route.path);
  const succeeded = metrics.requests.labels(route.method, route.path, '0');
  const where = `${route.method} ${route.path}`;
  const limit = bodyLimitOf(route);
  /** The transport refuses a larger body before it is collected; this holds without one, too. */
  const inLimit = (size: number): void => {
    if (size > limit) throw httpErrors.body_too_large({ limit: String(limit) });
  };
  const writes = route.method !== 'GET';

  const runOnce = writes && route.auth !== 'public' ? openRunOnce(deps.runtime, route) : null;
  /** A write whose repeats get its answer. */
  const keyed = (context: Handled, key: string, body: string | Uint8Array): Promise<Kept> => {
    const { request, locale } = context;
    return runOnce!({ route, request, caller: context.caller!, key, body }, async (claim): Promise<StoredAnswer> => {
      try {
        const write: Write = (work) => idempotency.write(claim, work);
        const data = await route.handle({ ...context, claim, write } as never);
        return { status: 200, code: 0, text: envelope(0, 'success', data) };
      } catch (error) {
        const refusal = refusalOf(error, traceIdOf(request), log, where);
        const { status, code } = refusal;
        const answer = envelope(code, refusal.messageIn(locale), null);
        return { status, code, text: answer, nothingDone: isNothingDone(refusal) };
      }
    }).then((answer) => ({ [kept]: answer }));
  };

  const run = (event: Event, locale: Locale, search: URLSearchParams | null): unknown => {
    const request = event.req;
    const handle = (caller: Caller | null, text: string, rawBody = noBytes) => {
      const context: Handled = {
        params: params ? parseOrRefuse(route.params!, params(event.context.params ?? {}), locale, 'path') : {},
        query: query ? parseOrRefuse(route.query!, query(search ?? noSearch), locale, 'query') : {},
        body: body ? parseOrRefuse(route.body!, body(jsonOf(request, text)), locale, 'body') : {},
        ...{ caller, locale, request, claim: null, write: plainWrite, rawBody },
      };
      const key = writes && caller ? idempotencyKeyOf(request) : null;
      return key === null ? route.handle(context as never) : keyed(context, key, route.rawBody ? rawBody : text);
    };
    const admitted = (caller: Caller | null) => {
      if (route.rawBody)
        return request.arrayBuffer().then((bytes) => {
          inLimit(bytes.byteLength);
          const raw = Buffer.from(bytes);
          return handle(caller, raw.toString('utf8'), raw);
        });
      if (!body) return handle(caller, '');
      return request.text().then((text) => {
        inLimit(text.length);
        return handle(caller, text);
      });
    };
    const token = route.auth === 'public' ? null : bearerOf(request);
    const known = token ? deps.authenticate(token) : null;
    return known instanceof Promise
      ? known.then((caller) => admitted(admit(route, token, caller)))
      : admitted(admit(route, token, known));
  };

  return (event) => {
    const started = performance.now();
    const request = event.req;
    const traceId = traceIdOf(request);
    const search = request.url.includes('?') ? searchOf(request) : null;
    const locale = requestLocale(request, search?.get('lang'), settings);
    const finish = (status: number, code: number, text: string, extra?: [string, string][]): Response => {
      const elapsed = performance.now() - started;
      seconds.observe(elapsed / 1000);
      if (config.logRequests === 'all' || (elapsed > slowMs && config.logRequests === 'slow'))
        log.info({ trace: traceId, route: where, status, code, ms: Math.round(elapsed) }, 'request');
      return respond(status, text, traceId, extra);
    };
    const done = (data: unknown): Response => {
      if (isKept(data)) {
        const { status, code, text, replayed } = data[kept];
        metrics.requests.labels(route.method, route.path, String(code)).inc();
        return finish(status, code, text, replayed ? replayedHeaders : undefined);
      }
      const text = envelope(0, 'success', data);
      succeeded.inc();
      return finish(200, 0, text);
    };
    const failed = (error: unknown): Response => {
      const refusal = refusalOf(error, traceId, log, where);
      metrics.requests.labels(route.method, route.path, String(refusal.code)).inc();
      return finish(refusal.status, refusal.code, envelope(refusal.code, refusal.messageIn(locale), null));
    };
    // At once, as a request that waited for a connection would only be refused later.
    if (isDatabaseAway()) return failed(postgresErrors.database_away());
    try {
      const data = run(event, locale, search);
      return data instanceof Promise ? data.then(done).catch(failed) : done(data);
    } catch (error) {
      return failed(error);
    }
  };
}

function mountFallbacks(app: H3, deps: AppDeps, methodsOf: ReadonlyMap<string, readonly string[]>): void {
  const { log, metrics, settings } = deps.runtime;
  const refuse = (request: Request, error: AppError, extra: [string, string][] = []) => {
    const traceId = traceIdOf(request);
    const locale = requestLocale(request, searchOf(request).get('lang'), settings);
    // Anything can stand for a method: only those we know become a series.
    metrics.requests
      .labels(knownMethods.has(request.method) ? request.method : 'other', 'unknown', String(error.code))
      .inc();
    const response = respond(error.status, envelope(error.code, error.messageIn(locale), null), traceId);
    for (const [name, value] of extra) response.headers.set(name, value);
    return response;
  };
  const preflight = () => new FastResponse(null, { status: 204, headers: [anyOrigin, ...preflightHeaders] });
  for (const [path, methods] of methodsOf) {
    const allowed = [...methods, 'OPTIONS'].join(', ');
    app.all(path, ({ req }) =>
      req.method === 'OPTIONS'
        ? preflight()
        : refuse(req, httpErrors.method_not_allowed({ allowed: methods.join(', ') }), [['allow', allowed]]),
    );
  }
  app.all('/**', ({ req }) => (req.method === 'OPTIONS' ? preflight() : refuse(req, httpErrors.unknown_route())));
  app.config.onError = (error, event) => {
    const traceId = traceIdOf(event.req);
    return refuse(event.req, refusalOf(error, traceId, log, `${event.req.method} ${event.url.pathname}`));
  };
}

/** Builds the application from its route table. Two routes on one method and path are a programming error. */
export function createApp(deps: AppDeps): App {
  const app = new H3({ silent: true });
  const methodsOf = new Map<string, string[]>();
  const claim = (method: string, path: string) => {
    const methods = methodsOf.get(path) ?? [];
    if (methods.includes(method)) throw new Error(`${method} ${path} is defined twice`);
    methodsOf.set(path, [...methods, method]);
  };
  for (const route of deps.routes) {
    claim(route.method, route.path);
    const handler = compile(route, deps);
    app.on(route.method, route.path, handler as never);
    if (route.method === 'GET') app.on('HEAD', route.path, handler as never);
  }
  for (const resource of deps.resources) {
    claim('GET', resource.path);
    const handler = ({ req, context }: Event) => resource.handle(req, context.params ?? {});
    app.on('GET', resource.path, handler as never);
    app.on('HEAD', resource.path, handler as never);
  }
  mountFallbacks(app, deps, methodsOf);
  return { fetch: app.fetch as App['fetch'], routes: deps.routes, bodyLimitOf: openBodyLimits(deps.routes) };
}
