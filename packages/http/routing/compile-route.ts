import type { Locale } from '@tradepost/core';
import { type ChangeActor, postgresErrors } from '@tradepost/postgres';
import {
  annotateSpan,
  type Claim,
  type ConcurrencyLimit,
  inTrace,
  type Runtime,
  type StoredAnswer,
  serverOperation,
  type Write,
  withSlot,
} from '@tradepost/runtime';
import type { TakeFileSlot } from '../files/file-slots.ts';
import { BegunFile, openEmptyFile, openFile, respondFile, type StreamedFile } from '../files/streamed-file.ts';
import { httpMetrics } from '../http-metrics.ts';
import { namesEtag, PreparedAnswer } from '../prepared-answer.ts';
import {
  arrivingBodies,
  BodyStreamError,
  bodyStreamOf,
  declaredBodyOf,
  noBodyStream,
} from '../transports/body-stream.ts';
import { tolerantBody, tolerantParams, tolerantQuery } from '../validation/tolerant.ts';
import { parseOrRefuse } from '../validation/validate.ts';
import { bodyLimitOf } from './body-limits.ts';
import { clientAddress } from './client-address.ts';
import { envelope, respond } from './envelope.ts';
import { httpErrors } from './errors.ts';
import { type Authenticate, admit, bearerOf } from './guard.ts';
import { idempotencyKeyOf, isNothingDone, openRunOnce } from './idempotent.ts';
import { refusalOf } from './refusal-of.ts';
import { checkNamed } from './refusals.ts';
import { requestLocale } from './request-locale.ts';
import type { Caller, Route } from './route.ts';
import { traceIdOf } from './trace.ts';

export type RouteDeps = {
  authenticate: Authenticate;
  runtime: Pick<Runtime, 'log' | 'metrics' | 'settings' | 'config' | 'idempotency' | 'isDatabaseAway'>;
};

/** The slots that the routes of a process share. */
type SharedSlots = { takeFileSlot: TakeFileSlot; staffReads: ConcurrencyLimit };

const slowMs = 1_000;
const noSearch = new URLSearchParams();
const noBytes: Uint8Array = new Uint8Array();

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

export function searchOf(request: Request): URLSearchParams {
  const mark = request.url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : request.url.slice(mark));
}

/** The context of a handler, without the types of its route. */
type Handled = {
  caller: Caller | null;
  locale: Locale;
  request: Request;
  claim: Claim | null;
  write: Write;
  actor: ChangeActor | null;
} & Record<string, unknown>;
/** Marks an answer that is stored under its Idempotency-Key. */
const kept = Symbol('kept');
type Kept = { [kept]: StoredAnswer & { replayed: boolean } };
const isKept = (data: unknown): data is Kept => data instanceof Object && kept in data;
const replayedHeaders: [string, string][] = [
  ['idempotency-replayed', 'true'],
  ['access-control-expose-headers', 'Idempotency-Replayed'],
];

export type Event = { req: Request; context: { params?: Record<string, string> } };

/** The parts of a request's work that are the same for all requests of a route, prepared once. */
function prepare(route: Route, deps: RouteDeps, { takeFileSlot, staffReads }: SharedSlots) {
  const { log, settings, config, idempotency, isDatabaseAway } = deps.runtime;
  const metrics = httpMetrics(deps.runtime.metrics);
  const { requests, requestSeconds } = metrics;
  const writes = route.method !== 'GET';
  const plainWrite: Write = (work) => idempotency.write(null, work);
  return {
    route,
    ...{ log, settings, config, idempotency, isDatabaseAway, requests, metrics, takeFileSlot },
    authenticate: deps.authenticate,
    where: `${route.method} ${route.path}`,
    limit: bodyLimitOf(route),
    slots: route.slots ?? (route.auth === 'staff' && route.method === 'GET' ? staffReads : null),
    params: route.params ? tolerantParams(route.params) : null,
    query: route.query ? tolerantQuery(route.query) : null,
    body: route.body && !route.bodyStream ? tolerantBody(route.body) : null,
    writes,
    plainWrite,
    runOnce: writes && route.auth !== 'public' ? openRunOnce(deps.runtime, route) : null,
    seconds: requestSeconds.labels(route.method, route.path),
    succeeded: requests.labels(route.method, route.path, '0'),
  };
}
type Prepared = ReturnType<typeof prepare>;

/**
 * One request of a route: authenticate, parse, call the handler, build the envelope. A value that is not a promise is
 * not awaited. An answer without I/O is then returned synchronously, which costs the transport a fifth of the time of a
 * promise.
 */
class RouteRequest {
  readonly #of: Prepared;
  readonly #request: Request;
  readonly #params: Record<string, string> | undefined;
  readonly #started = performance.now();
  readonly #traceId: string;
  readonly #search: URLSearchParams | null;
  readonly #locale: Locale;

  constructor(of: Prepared, event: Event) {
    const request = event.req;
    this.#of = of;
    this.#request = request;
    this.#params = event.context.params;
    this.#traceId = traceIdOf(request);
    this.#search = request.url.includes('?') ? searchOf(request) : null;
    this.#locale = requestLocale(request, this.#search?.get('lang'), of.settings);
  }

  answer(): Response | Promise<Response> {
    // Refused at once: a request that waited for a connection would be refused later.
    if (this.#of.isDatabaseAway()) return this.#failed(postgresErrors.database_away());
    try {
      const data = this.#run();
      if (!(data instanceof Promise)) return this.#done(data);
      return data.then((value) => this.#done(value)).catch((error: unknown) => this.#failed(error));
    } catch (error) {
      return this.#failed(error);
    }
  }

  #run(): unknown {
    const { route, authenticate } = this.#of;
    const token = route.auth === 'public' ? null : bearerOf(this.#request);
    const known = token ? authenticate(token) : null;
    return known instanceof Promise
      ? known.then((caller) => this.#admitted(admit(route, token, caller)))
      : this.#admitted(admit(route, token, known));
  }

  #admitted(caller: Caller | null): unknown {
    if (this.#of.route.rawBody)
      return this.#request.arrayBuffer().then((bytes) => {
        this.#refuseAbove(bytes.byteLength);
        const raw = Buffer.from(bytes);
        return this.#handle(caller, raw.toString('utf8'), raw);
      });
    if (this.#of.route.bodyStream) return this.#handle(caller, declaredBodyOf(this.#request), noBytes);
    if (!this.#of.body) return this.#handle(caller, '', noBytes);
    return this.#request.text().then((text) => {
      this.#refuseAbove(text.length);
      return this.#handle(caller, text, noBytes);
    });
  }

  /** The transport refuses a larger body before it is collected. This check also holds without a transport. */
  #refuseAbove(size: number): void {
    const { limit } = this.#of;
    if (size > limit) throw httpErrors.body_too_large({ limit: String(limit) });
  }

  #handle(caller: Caller | null, text: string, rawBody: Uint8Array): unknown {
    const { route, params, query, body, limit, slots, writes, plainWrite } = this.#of;
    const request = this.#request;
    const actor = (writes || route.file) && caller?.role === 'admin' ? this.#actorOf(caller) : null;
    const write: Write = actor ? (work) => this.#of.idempotency.write(null, work, actor) : plainWrite;
    const bodyStream = route.bodyStream ? bodyStreamOf(request, limit) : noBodyStream;
    const locale = this.#locale;
    const context: Handled = {
      params: params ? parseOrRefuse(route.params!, params(this.#params ?? {}), locale, 'path') : {},
      query: query ? parseOrRefuse(route.query!, query(this.#search ?? noSearch), locale, 'query') : {},
      body: body ? parseOrRefuse(route.body!, body(jsonOf(request, text)), locale, 'body') : {},
      ...{ caller, locale, request, claim: null, write, actor, rawBody, bodyStream },
    };
    if (route.file) return this.#file(context);
    const key = writes && caller ? idempotencyKeyOf(request) : null;
    const run = () =>
      key === null ? route.handle(context as never) : this.#keyed(context, key, route.rawBody ? rawBody : text);
    return slots ? withSlot(slots, async () => run()) : run();
  }

  async #file(context: Handled): Promise<BegunFile> {
    const { route, takeFileSlot, log, metrics, where } = this.#of;
    const handle = () => route.handle(context as never) as Promise<StreamedFile>;
    if (this.#request.method === 'HEAD') return openEmptyFile(handle);
    const release = takeFileSlot(context.caller!);
    return openFile(handle, { log, metrics, where, release, trace: this.#traceId });
  }

  #actorOf({ id }: Caller): ChangeActor {
    const { config, where } = this.#of;
    const address = clientAddress(this.#request, config.trustedProxies);
    return { source: 'api', staff_id: id, address, request_id: this.#traceId, action: where };
  }

  /** A write with an Idempotency-Key: a repeat gets the stored answer. */
  async #keyed(context: Handled, key: string, body: string | Uint8Array): Promise<Kept> {
    const { route, runOnce, idempotency, log, where } = this.#of;
    const { request, locale } = context;
    const keyed = { route, request, caller: context.caller!, key, body };
    const answer = await runOnce!(keyed, async (claim): Promise<StoredAnswer> => {
      try {
        const write: Write = (work) => idempotency.write(claim, work, context.actor);
        const data = await route.handle({ ...context, claim, write } as never);
        return { status: 200, code: 0, text: envelope(0, 'success', data) };
      } catch (error) {
        const cause = this.#causeOf(error);
        const refusal = refusalOf(cause, traceIdOf(request), log, where);
        checkNamed(route, refusal);
        const { status, code } = refusal;
        const text = envelope(code, refusal.messageIn(locale), null);
        // After an incomplete body the client sends the same request again, and it must run.
        return { status, code, text, nothingDone: isNothingDone(refusal) || cause instanceof BodyStreamError };
      }
    });
    return { [kept]: answer };
  }

  /** What a handler throws after an incomplete body is a consequence of it. */
  #causeOf(error: unknown): unknown {
    return (this.#of.route.bodyStream && arrivingBodies.get(this.#request)?.error) || error;
  }

  #done(data: unknown): Response {
    const { requests, route, succeeded } = this.#of;
    if (isKept(data)) {
      const { status, code, text, replayed } = data[kept];
      requests.labels(route.method, route.path, String(code)).inc();
      return this.#finish(status, code, text, replayed ? replayedHeaders : undefined);
    }
    if (data instanceof PreparedAnswer) {
      const isKnown = namesEtag(this.#request.headers.get('if-none-match'), data.etag);
      succeeded.inc();
      return this.#finish(isKnown ? 304 : 200, 0, isKnown ? null : data.bytes, data.headers);
    }
    if (data instanceof BegunFile) {
      succeeded.inc();
      this.#observe(200, 0);
      return respondFile(data, route.file!, this.#traceId);
    }
    const text = envelope(0, 'success', data);
    succeeded.inc();
    return this.#finish(200, 0, text);
  }

  #failed(error: unknown): Response {
    const { requests, route, log, where } = this.#of;
    const refusal = refusalOf(this.#causeOf(error), this.#traceId, log, where);
    checkNamed(route, refusal);
    requests.labels(route.method, route.path, String(refusal.code)).inc();
    return this.#finish(refusal.status, refusal.code, envelope(refusal.code, refusal.messageIn(this.#locale), null));
  }

  #finish(
    status: number,
    code: number,
    body: string | Uint8Array<ArrayBuffer> | null,
    extra?: readonly [string, string][],
  ): Response {
    this.#observe(status, code);
    return respond(status, body, this.#traceId, extra);
  }

  #observe(status: number, code: number): void {
    const { seconds, config, log, where } = this.#of;
    annotateSpan('tradepost.code', code);
    const elapsed = performance.now() - this.#started;
    seconds.observe(elapsed / 1000);
    if (config.logRequests === 'all' || (elapsed > slowMs && config.logRequests === 'slow'))
      log.info({ trace: this.#traceId, route: where, status, code, ms: Math.round(elapsed) }, 'request');
  }
}

/** Turns one route into its request handler. */
export function compileRoute(
  route: Route,
  deps: RouteDeps,
  slots: SharedSlots,
): (event: Event) => Response | Promise<Response> {
  const prepared = prepare(route, deps, slots);
  const operation = serverOperation(route.method, route.path);
  return (event) =>
    inTrace(event.req.headers.get('traceparent'), operation, () => new RouteRequest(prepared, event).answer());
}
