import type { AppError } from '@tradepost/core';
import { H3 } from 'h3';
import { FastResponse } from 'srvx';
import { openFileSlots } from '../files/file-slots.ts';
import { httpMetrics } from '../http-metrics.ts';
import { openStaffReads } from '../staff-reads.ts';
import type { SocketServer } from '../transports/sockets.ts';
import type { Channel } from '../websocket/define-channel.ts';
import { openChannels, upgradeRequiredHeaders } from '../websocket/open-channels.ts';
import { openBodyLimits, openStreamLimits } from './body-limits.ts';
import { compileRoute, type Event, type RouteDeps, searchOf } from './compile-route.ts';
import { anyOrigin, envelope, respond } from './envelope.ts';
import { httpErrors } from './errors.ts';
import { refusalOf } from './refusal-of.ts';
import { requestLocale } from './request-locale.ts';
import type { Resource } from './resource.ts';
import type { Route } from './route.ts';
import { traceIdOf } from './trace.ts';

export type AppDeps = RouteDeps & {
  routes: readonly Route[];
  resources: readonly Resource[];
  channels?: readonly Channel[];
};

export type App = {
  fetch: (request: Request) => Response | Promise<Response>;
  routes: readonly Route[];
  /** The largest body of a request in bytes, by method and path without query. */
  bodyLimitOf: (method: string, path: string) => number;
  /** The same for a streamed body; 0 for every other route. Undefined when no route streams. */
  streamLimitOf: ((method: string, path: string) => number) | undefined;
  /** Serves the channels. Null without channels. */
  sockets: SocketServer | null;
};

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
const preflightHeaders: readonly [string, string][] = [
  ['access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE, OPTIONS'],
  [
    'access-control-allow-headers',
    'Content-Type, Authorization, X-Requested-With, X-Request-Id, Idempotency-Key, traceparent',
  ],
  ['access-control-max-age', '86400'],
];

function mountFallbacks(
  app: H3,
  deps: AppDeps,
  methodsOf: ReadonlyMap<string, readonly string[]>,
  channels: readonly Channel[],
): void {
  const { log, settings } = deps.runtime;
  const { requests } = httpMetrics(deps.runtime.metrics);
  const refuse = (request: Request, error: AppError, extra: [string, string][] = []) => {
    const traceId = traceIdOf(request);
    const locale = requestLocale(request, searchOf(request).get('lang'), settings);
    // A client can send any text as method. Only known methods become label values.
    requests.labels(knownMethods.has(request.method) ? request.method : 'other', 'unknown', String(error.code)).inc();
    const response = respond(error.status, envelope(error.code, error.messageIn(locale), null), traceId);
    for (const [name, value] of extra) response.headers.set(name, value);
    return response;
  };
  const preflight = () => new FastResponse(null, { status: 204, headers: [anyOrigin, ...preflightHeaders] });
  for (const { path } of channels)
    app.on('GET', path, ({ req }) => refuse(req, httpErrors.upgrade_required(), upgradeRequiredHeaders));
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

/** Builds the application from its route table. Throws when two routes have the same method and path. */
export function createApp(deps: AppDeps): App {
  const app = new H3({ silent: true });
  const methodsOf = new Map<string, string[]>();
  const slots = { takeFileSlot: openFileSlots(), staffReads: openStaffReads(deps.runtime.config.databasePool) };
  const claim = (method: string, path: string) => {
    const methods = methodsOf.get(path) ?? [];
    if (methods.includes(method)) throw new Error(`${method} ${path} is defined twice`);
    methodsOf.set(path, [...methods, method]);
  };
  for (const route of deps.routes) {
    claim(route.method, route.path);
    const handler = compileRoute(route, deps, slots);
    app.on(route.method, route.path, handler as never);
    if (route.method === 'GET') app.on('HEAD', route.path, handler as never);
  }
  for (const resource of deps.resources) {
    const { method = 'GET', path } = resource;
    claim(method, path);
    const handler = ({ req, context }: Event) => resource.handle(req, context.params ?? {});
    app.on(method, path, handler as never);
    if (method === 'GET') app.on('HEAD', path, handler as never);
  }
  const channels = deps.channels ?? [];
  for (const { path } of channels) claim('GET', path);
  mountFallbacks(app, deps, methodsOf, channels);
  return {
    fetch: app.fetch as App['fetch'],
    routes: deps.routes,
    bodyLimitOf: openBodyLimits(deps.routes),
    streamLimitOf: openStreamLimits(deps.routes),
    sockets: channels.length > 0 ? openChannels({ ...deps, channels }) : null,
  };
}
