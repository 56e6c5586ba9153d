import { setTimeout as sleep } from 'node:timers/promises';
import { type AppError, serviceErrors } from '@tradepost/core';
import { postgresErrors } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import { httpMetrics } from '../http-metrics.ts';
import { clientAddress, clientNetwork } from '../routing/client-address.ts';
import { envelope, respond } from '../routing/envelope.ts';
import { httpErrors } from '../routing/errors.ts';
import type { Authenticate } from '../routing/guard.ts';
import { refusalOf } from '../routing/refusal-of.ts';
import { requestLocale } from '../routing/request-locale.ts';
import { newTraceId, traceIdOf } from '../routing/trace.ts';
import type { SocketServer, Upgrade } from '../transports/sockets.ts';
import { tolerantParams, tolerantQuery } from '../validation/tolerant.ts';
import { parseOrRefuse } from '../validation/validate.ts';
import type { ChannelState } from './channel-state.ts';
import { Connection } from './connection/connection.ts';
import type { Channel } from './define-channel.ts';
import { codeLabel } from './end-reasons.ts';
import { openChannelFinder } from './find-channel.ts';
import { readHandshake } from './handshake.ts';
import { openSlots } from './slots.ts';

type Deps = {
  channels: readonly Channel[];
  authenticate: Authenticate;
  runtime: Pick<Runtime, 'log' | 'metrics' | 'settings' | 'config' | 'isDatabaseAway'>;
};
type Metrics = Runtime['metrics'];

/** Headers of the answer to a plain request for the path of a channel. */
export const upgradeRequiredHeaders: [string, string][] = [
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
];

/**
 * The HTTP status of a refused handshake. A refusal by a rule has status 200 for a route; a handshake needs a status
 * that shows the refusal.
 */
const statusOf = ({ status, code }: AppError): number =>
  status !== 200 ? status : code >= 400 && code <= 599 ? code : 400;

/** Milliseconds between two checks of the deadlines: short enough for the shortest deadline, and at most a second. */
function tickMsOf(channels: readonly Channel[]): number {
  const seconds = channels.flatMap(({ limits }) => [
    limits.pingSeconds,
    limits.pongSeconds,
    limits.handshakeSeconds,
    limits.tokenCheckSeconds,
    limits.idleSeconds ?? 4,
  ]);
  return Math.max(25, Math.min(1_000, ...seconds.map((value) => value * 250)));
}

function countSockets(metrics: Metrics, { channel, connections, frames }: ChannelState): void {
  const counted = { in: 0, out: 0, dropped: 0 };
  const http = httpMetrics(metrics);
  metrics.beforeRead.add(() => {
    http.sockets.set({ channel: channel.path }, connections.size);
    for (const direction of ['in', 'out', 'dropped'] as const) {
      http.socketFrames.inc({ channel: channel.path, direction }, frames[direction] - counted[direction]);
      counted[direction] = frames[direction];
    }
  });
}

/** Counts the running handlers, so that a shutdown can wait for them. */
function createRunning() {
  let count = 0;
  let onIdle: (() => void) | null = null;
  return {
    began() {
      count += 1;
    },
    ended() {
      count -= 1;
      if (count === 0) onIdle?.();
    },
    async idle(deadlineMs: number): Promise<void> {
      if (count === 0) return;
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      await Promise.race([idle, sleep(deadlineMs, undefined, { ref: false })]);
    },
  };
}

/** Checks the deadlines of all connections while there are any. */
function createTicker(states: readonly ChannelState[], tickMs: number) {
  let timer: NodeJS.Timeout | null = null;
  const stop = () => {
    if (timer) clearInterval(timer);
    timer = null;
  };
  const tick = () => {
    const now = performance.now();
    for (const { connections } of states) for (const connection of connections) connection.tick(now);
    if (states.every(({ connections }) => connections.size === 0)) stop();
  };
  return {
    start() {
      timer ??= setInterval(tick, tickMs).unref();
    },
    stop,
  };
}

/** Waits for authentication and `connect`, at most the time that the channel allows. Throws the refusal. */
async function prepare(connection: Connection, handshakeSeconds: number): Promise<void> {
  const timeout = new AbortController();
  const late = sleep(handshakeSeconds * 1000, undefined, { signal: timeout.signal, ref: false }).then(
    () => Promise.reject(serviceErrors.busy()),
    () => {},
  );
  try {
    await Promise.race([connection.prepare(), late]);
  } catch (error) {
    connection.closed(1006, null);
    throw error;
  } finally {
    timeout.abort();
  }
}

type HandshakeRequest = { request: Request; search: URLSearchParams; params: Record<string, string> };

/** Reads a handshake and opens its connection. Throws the refusal. */
async function accept(
  state: ChannelState,
  handshake: HandshakeRequest,
  { authenticate, runtime }: Deps,
): Promise<Upgrade> {
  const { log, settings, config, isDatabaseAway } = runtime;
  if (isDatabaseAway()) throw postgresErrors.database_away();
  const { request, search } = handshake;
  const { params, query, tokenFrom, limits } = state.channel;
  const { token, protocol } = readHandshake({ tokenFrom }, request, search);
  const locale = requestLocale(request, search.get('lang'), settings);
  const connection = new Connection(state, {
    id: newTraceId(),
    token,
    locale,
    address: clientNetwork(clientAddress(request, config.trustedProxies)),
    params: params ? parseOrRefuse(params, tolerantParams(params)(handshake.params), locale, 'path') : {},
    query: query ? parseOrRefuse(query, tolerantQuery(query)(search), locale, 'query') : {},
    authenticate,
    log,
  });
  await prepare(connection, limits.handshakeSeconds);
  return { protocol, events: connection };
}

/** Path and query of an absolute URL. */
function splitUrl(url: string): { path: string; search: URLSearchParams } {
  const [path = '', query = ''] = url.replace(/^[^/]*\/\/[^/]*/, '').split(/\?(.*)/s);
  return { path, search: new URLSearchParams(query) };
}

/**
 * Serves the channels: it accepts or refuses handshakes, checks the deadlines of open sockets, and closes them at
 * shutdown.
 */
export function openChannels(deps: Deps): SocketServer {
  const { channels } = deps;
  const { log, metrics, settings } = deps.runtime;
  const http = httpMetrics(metrics);
  const running = createRunning();
  let closing = false;
  const states = channels.map((channel): ChannelState & { path: string } => ({
    channel,
    path: channel.path,
    slots: openSlots(channel.limits),
    connections: new Set(),
    frames: { in: 0, out: 0, dropped: 0 },
    countClose: (code, reason) => http.socketCloses.inc({ channel: channel.path, code: codeLabel(code), reason }),
    running,
  }));
  for (const state of states) countSockets(metrics, state);
  const find = openChannelFinder(states);
  const ticker = createTicker(states, tickMsOf(channels));

  const upgrade = async (request: Request): Promise<Upgrade | Response> => {
    const traceId = traceIdOf(request);
    const { path, search } = splitUrl(request.url);
    const found = find(path);
    const where = found?.match.path ?? 'unknown';
    try {
      if (!found) throw httpErrors.unknown_route();
      if (closing) throw serviceErrors.stopping();
      ticker.start();
      const accepted = await accept(found.match, { request, search, params: found.params }, deps);
      http.requests.labels('GET', where, '0').inc();
      return accepted;
    } catch (error) {
      const refusal = refusalOf(error, traceId, log, `GET ${where}`);
      http.requests.labels('GET', where, String(refusal.code)).inc();
      const text = envelope(
        refusal.code,
        refusal.messageIn(requestLocale(request, search.get('lang'), settings)),
        null,
      );
      return respond(statusOf(refusal), text, traceId, refusal.status === 426 ? upgradeRequiredHeaders : undefined);
    }
  };

  return {
    channels: channels.map(({ path, limits }) => ({ path, frameBytes: limits.frameBytes })),
    pathOf: (path) => find(path)?.match.path ?? null,
    upgrade,
    openSockets: () => states.reduce((sum, { connections }) => sum + connections.size, 0),
    async close(deadlineMs) {
      closing = true;
      for (const { connections } of states) for (const connection of [...connections]) connection.end('shutdown');
      ticker.stop();
      await running.idle(deadlineMs);
    },
  };
}
