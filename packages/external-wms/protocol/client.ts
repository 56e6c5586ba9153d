import { randomUUID } from 'node:crypto';
import { callOperation, createConcurrencyLimit, inCall, type Runtime, traceHeaders } from '@tradepost/runtime';
import { externalAppKey, externalAppSecret, externalEndpoint, externalTimeoutMs } from '../settings.ts';
import type { TaskAction } from './actions.ts';
import { type CallOutcome, noAnswer, parseJson } from './answer.ts';
import { classify } from './codes.ts';
import { externalMetrics } from './external-metrics.ts';
import { connections, openPartnerConnections } from './partner-connections.ts';
import { externalSignature } from './signature.ts';
import { notSent, openTimeLimit } from './time-limit.ts';

export type { CallOutcome } from './answer.ts';

export type ExternalAction = TaskAction | 'stock/sellable';

export type ExternalClient = {
  /**
   * Calls the partner. A fault of the partner or the network is an outcome and does not throw. `requestId` is also sent
   * as Idempotency-Key. `timeoutMs` can only shorten the time-out of the settings.
   */
  call(
    action: ExternalAction,
    body: Readonly<Record<string, unknown>>,
    options: { requestId: string; timeoutMs?: number; signal?: AbortSignal },
  ): Promise<CallOutcome>;
  /** Aborts the running calls. */
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
/** The most calls that wait for a connection. A further call fails at once. */
const maxWaiting = 512;

type Settings = Pick<Runtime['settings'], 'get'>;

/** The headers with a new signature and nonce for each attempt, because a partner refuses a nonce that it has seen. */
function signedHeaders(settings: Settings, body: string, requestId: string, secret: string): Record<string, string> {
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
    ...traceHeaders(),
  };
}

/** Opens a client that calls the external warehouse over kept connections. Every call reads the settings. */
export function openExternalClient(runtime: Pick<Runtime, 'log' | 'metrics'> & { settings: Settings }): ExternalClient {
  const { settings, log } = runtime;
  const { calls, callSeconds } = externalMetrics(runtime.metrics);
  const partners = openPartnerConnections();
  let closed = false;
  const limit = createConcurrencyLimit({ active: connections, queued: maxWaiting });
  const within = openTimeLimit(limit);

  async function exchange(path: string, body: string, requestId: string, signal: AbortSignal): Promise<CallOutcome> {
    const secret = settings.get(externalAppSecret);
    const { pool, origin, prefix, wasStale } = partners.at(settings.get(externalEndpoint));
    const send = () =>
      inCall(callOperation('external-wms', 'POST', origin), () =>
        pool.request({
          method: 'POST',
          path: prefix + path,
          headers: signedHeaders(settings, body, requestId, secret),
          body,
          signal,
        }),
      );
    // A partner may close a kept connection just when a request is written to it. The request is then repeated once, within the
    // same deadline. That is safe when the partner has read the first one, because both have the same idempotency key.
    const response = await send().catch((error: unknown) => {
      if (!wasStale(error) || signal.aborted) throw error;
      // When the repeat cannot connect, the outcome is that of the first request, which the partner may have read.
      return send().catch(() => {
        throw error;
      });
    });
    const outcome = classify(parseJson(await response.body.text()), { requestId, secret });
    if (response.statusCode < 300) return outcome;
    const detail = outcome.code === null ? '' : ` (code ${outcome.code}: ${outcome.message})`;
    return noAnswer(`HTTP ${response.statusCode}${detail}`);
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
      await partners.close();
    },
  };
}
