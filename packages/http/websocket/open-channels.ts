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
import { type ChannelState, Connection } from './connection.ts';
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

const upgradeHeaders: [string, string][] = [
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
];

/** A refusal by a rule is HTTP 200 for a request; a handshake that is refused needs a status that says so. */
const statusOf = ({ status, code }: AppError): number =>
  status !== 200 ? status : code >= 400 && code <= 599 ? code : 400;

/** How often deadlines are checked: often enough for the shortest of them, at most once a second. */
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

/** Serves the channels: decides on handshakes, watches the deadlines of open sockets, closes all of them at shutdown. */
export function openChannels({ channels, authenticate, runtime }: Deps): SocketServer {
  const { log, metrics, settings, config, isDatabaseAway } = runtime;
  const http = httpMetrics(metrics);
  let running = 0;
  let closing = false;
  let ticker: NodeJS.Timeout | null = null;
  let onIdle: (() => void) | null = null;
  const watch = {
    began: () => {
      running += 1;
    },
    ended: () => {
      running -= 1;
      if (running === 0) onIdle?.();
    },
  };
  const states = channels.map((channel): ChannelState & { path: string } => ({
    channel,
    path: channel.path,
    slots: openSlots(channel.limits),
    connections: new Set(),
    frames: { in: 0, out: 0, dropped: 0 },
    countClose: (code, reason) => http.socketCloses.inc({ channel: channel.path, code: codeLabel(code), reason }),
    running: watch,
  }));
  for (const state of states) countSockets(metrics, state);
  const find = openChannelFinder(states);
  const openSockets = () => states.reduce((sum, { connections }) => sum + connections.size, 0);
  const tickMs = tickMsOf(channels);
  const tick = () => {
    const now = performance.now();
    for (const { connections } of states) for (const connection of connections) connection.tick(now);
    if (openSockets() > 0) return;
    clearInterval(ticker!);
    ticker = null;
  };

  /** Throws the refusal. */
  const accept = async (
    state: ChannelState,
    request: Request,
    search: URLSearchParams,
    given: Record<string, string>,
  ) => {
    if (closing) throw serviceErrors.stopping();
    if (isDatabaseAway()) throw postgresErrors.database_away();
    const { channel } = state;
    const { token, protocol } = readHandshake(channel, request, search);
    const locale = requestLocale(request, search.get('lang'), settings);
    const { params, query, limits } = channel;
    const connection = new Connection(state, {
      id: newTraceId(),
      token,
      locale,
      address: clientNetwork(clientAddress(request, config.trustedProxies)),
      params: params ? parseOrRefuse(params, tolerantParams(params)(given), locale, 'path') : {},
      query: query ? parseOrRefuse(query, tolerantQuery(query)(search), locale, 'query') : {},
      authenticate,
      log,
    });
    ticker ??= setInterval(tick, tickMs).unref();
    const timeout = new AbortController();
    const late = sleep(limits.handshakeSeconds * 1000, undefined, { signal: timeout.signal, ref: false }).then(
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
    return { protocol, events: connection };
  };

  const upgrade = async (request: Request): Promise<Upgrade | Response> => {
    const traceId = traceIdOf(request);
    const [path = '', query = ''] = request.url.replace(/^[^/]*\/\/[^/]*/, '').split(/\?(.*)/s);
    const search = new URLSearchParams(query);
    const found = find(path);
    const where = found?.channel.path ?? 'unknown';
    try {
      if (!found) throw httpErrors.unknown_route();
      const accepted = await accept(found.channel, request, search, found.params);
      http.requests.labels('GET', where, '0').inc();
      return accepted;
    } catch (error) {
      const refusal = refusalOf(error, traceId, log, `GET ${where}`);
      http.requests.labels('GET', where, String(refusal.code)).inc();
      const locale = requestLocale(request, search.get('lang'), settings);
      const text = envelope(refusal.code, refusal.messageIn(locale), null);
      return respond(statusOf(refusal), text, traceId, refusal.status === 426 ? upgradeHeaders : undefined);
    }
  };

  return {
    channels: channels.map(({ path, limits }) => ({ path, frameBytes: limits.frameBytes })),
    pathOf: (path) => find(path)?.channel.path ?? null,
    upgrade,
    openSockets,
    async close(deadlineMs) {
      closing = true;
      for (const { connections } of states) for (const connection of [...connections]) connection.end('shutdown');
      if (ticker) clearInterval(ticker);
      if (running === 0) return;
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      await Promise.race([idle, sleep(deadlineMs, undefined, { ref: false })]);
    },
  };
}

/** The answer to a request without a handshake for the path of a channel. */
export const upgradeRequiredHeaders = upgradeHeaders;
