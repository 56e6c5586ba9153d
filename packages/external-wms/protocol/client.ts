import { randomUUID } from 'node:crypto';
import {
  createConcurrencyLimit,
  faultCode,
  type KeptConnections,
  keptConnections,
  type Runtime,
} from '@tradepost/runtime';
import type { Pool } from 'undici';
import { externalAppKey, externalAppSecret, externalEndpoint, externalTimeoutMs } from '../settings.ts';
import type { TaskAction } from './actions.ts';
import { type CallOutcome, noAnswer, parseAnswer } from './answer.ts';
import { classify } from './codes.ts';
import { externalMetrics } from './external-metrics.ts';
import { externalSignature } from './signature.ts';

export type { CallOutcome } from './answer.ts';

export type ExternalAction = TaskAction | 'stock/sellable';

export type ExternalClient = {
  /**
   * Never throws for a fault of the partner or the network. `requestId` is also sent as Idempotency-Key. `timeoutMs` can
   * only shorten what the settings allow.
   */
  call(
    action: ExternalAction,
    body: Readonly<Record<string, unknown>>,
    options: { requestId: string; timeoutMs?: number; signal?: AbortSignal },
  ): Promise<CallOutcome>;
  /** Aborts the calls that still run. */
  close(): Promise<void>;
};

const paths: Readonly<Record<ExternalAction, string>> = {
  reserve: '/reserve',
  confirm: '/confirm',
  release: '/release',
  deduct: '/deduct',
  restore: '/restore',
  sync_sku: '/sync-sku',
  'stock/sellable': '/stock/sellable',
};
const maxAnswerBytes = 1024 * 1024;
const connections = 64;
/** Calls that may wait for a connection; a further one fails at once. */
const maxWaiting = 512;
const idleMs = 30_000;
const connectMs = 5_000;

/** Our own texts: the messages of errors may quote what was sent. */
const networkFaults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is larger than 1 MiB',
  UND_ERR_INVALID_ARG: 'the app key or the request id can not be sent as a header',
  UND_ERR_DESTROYED: 'this process is being stopped',
};

/** With these faults no part of the call was sent. */
const unreachable: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

function faultText(error: unknown): string {
  const { name } = error as Error;
  const code = faultCode(error) || name;
  const text = name === 'HTTPParserError' ? 'the answer is not HTTP' : (networkFaults[code] ?? 'the call failed');
  return `${text} (${code})`;
}

type Partner = KeptConnections & { origin: string; prefix: string };

const notSent = (message: string): CallOutcome => ({ ...noAnswer(message), unsent: true });

/** Calls the external warehouse over kept connections. Settings are read with every call. */
export function openExternalClient(
  runtime: Pick<Runtime, 'log' | 'metrics'> & { settings: Pick<Runtime['settings'], 'get'> },
): ExternalClient {
  const { settings, log } = runtime;
  const { calls, callSeconds } = externalMetrics(runtime.metrics);
  let partner: Partner | null = null;
  let closed = false;
  const retired = new Set<Pool>();
  const limit = createConcurrencyLimit({ active: connections, queued: maxWaiting });

  function partnerAt(endpoint: string): Partner {
    const { origin, pathname } = new URL(endpoint);
    const prefix = pathname.replace(/\/+$/, '');
    if (partner?.origin === origin) return { ...partner, prefix };
    if (partner) {
      // Its running calls are finished.
      const { pool } = partner;
      retired.add(pool);
      pool.close().then(
        () => retired.delete(pool),
        () => {},
      );
    }
    partner = {
      origin,
      prefix,
      ...keptConnections(origin, { connections, connectMs, keepAliveMs: idleMs, maxAnswerBytes }),
    };
    return partner;
  }

  /** Signed anew for every sending: a partner that refuses a nonce seen before must not refuse a repeat. */
  function signedHeaders(body: string, requestId: string, secret: string): Record<string, string> {
    const parts = {
      app_key: settings.get(externalAppKey),
      timestamp: String(Math.floor(Date.now() / 1000)),
      nonce: randomUUID(),
      body,
    };
    return {
      'Content-Type': 'application/json',
      'X-App-Key': parts.app_key,
      'X-Timestamp': parts.timestamp,
      'X-Nonce': parts.nonce,
      'X-Sign': externalSignature(parts, secret),
      'X-Request-Mode': 'generic',
      'Idempotency-Key': requestId,
    };
  }

  async function exchange(path: string, body: string, requestId: string, signal: AbortSignal): Promise<CallOutcome> {
    const secret = settings.get(externalAppSecret);
    const { pool, prefix, wasStale } = partnerAt(settings.get(externalEndpoint));
    const send = () =>
      pool.request({
        method: 'POST',
        path: prefix + path,
        headers: signedHeaders(body, requestId, secret),
        body,
        signal,
      });
    // A partner may close a kept connection just as we write to it, which is no fault. One repeat at once, within the same
    // deadline, is safe even if the partner had read the call: both carry the same idempotency key.
    const response = await send().catch((error: unknown) => {
      if (!wasStale(error) || signal.aborted) throw error;
      // When the repeat can not connect, the first call may still have been read.
      return send().catch(() => {
        throw error;
      });
    });
    const outcome = classify(parseAnswer(await response.body.text()), { requestId, secret });
    if (response.statusCode < 300) return outcome;
    const said = outcome.code === null ? '' : ` (code ${outcome.code}: ${outcome.message})`;
    return noAnswer(`HTTP ${response.statusCode}${said}`);
  }

  /** The exchange, or what is known when the time is up. */
  async function within(
    timeoutMs: number,
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<CallOutcome>,
  ): Promise<CallOutcome> {
    const cutOff = Promise.withResolvers<CallOutcome>();
    const controller = new AbortController();
    let sent = false;
    // Resolved here and not by the aborted request, which notices the abort only when it has a connection.
    const stop = (message: string) => {
      cutOff.resolve(sent ? noAnswer(message) : notSent(message));
      controller.abort();
    };
    const timer = setTimeout(() => stop(`no answer within ${timeoutMs} ms`), timeoutMs);
    const onAbort = () => stop('the call was given up');
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const answered = limit.acquire(controller.signal).then((granted) => {
        if (!granted) return notSent('too many calls wait for this warehouse');
        sent = true;
        return run(controller.signal)
          .catch((error: unknown) => (unreachable.has(faultCode(error)) ? notSent : noAnswer)(faultText(error)))
          .finally(limit.release);
      });
      return await Promise.race([cutOff.promise, answered]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  return {
    async call(action, body, { requestId, timeoutMs, signal }) {
      if (closed) return notSent('this process is being stopped');
      if (signal?.aborted) return notSent('the call was given up');
      if (settings.get(externalEndpoint) === '') return notSent('external_wms.endpoint is not set');
      const text = JSON.stringify({ ...body, request_id: requestId });
      const allowed = settings.get(externalTimeoutMs);
      const started = performance.now();
      const outcome = await within(Math.min(timeoutMs ?? allowed, allowed), signal, (cut) =>
        exchange(paths[action], text, requestId, cut),
      );
      const seconds = (performance.now() - started) / 1000;
      calls.inc({ action, result: outcome.kind });
      callSeconds.observe({ action }, seconds);
      const { kind, code, message } = outcome;
      log.debug(
        { action, request_id: requestId, kind, code, message, ms: Math.round(seconds * 1000) },
        'warehouse call',
      );
      return outcome;
    },
    async close() {
      closed = true;
      const pools = [...retired, ...(partner ? [partner.pool] : [])];
      partner = null;
      await Promise.all(pools.map((pool) => pool.destroy()));
    },
  };
}
