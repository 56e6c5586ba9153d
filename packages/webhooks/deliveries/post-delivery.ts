import { type AddressGuard, guardedConnector } from '@tradepost/outbound-http';
import {
  callOperation,
  inCall,
  type KeptConnections,
  keptConnections,
  networkFaultText,
  traceHeaders,
} from '@tradepost/runtime';
import type { Dispatcher } from 'undici';
import { attemptMs, connectMs, maxAnswerBytes, maxAnswerText } from '../limits.ts';
import type { Attempt } from './delivery.ts';
import { retryAfterOf } from './retry-plan.ts';
import { signedHeaders } from './signature.ts';

const keepAliveMs = 30_000;

/** Texts for the faults that depend on this protocol. None has an address. */
const ownFaults: Readonly<Record<string, string>> = {
  REFUSED_ADDRESS: 'the host has a private or reserved address',
};

/** Opens connections to the host of an endpoint, with the address guard. */
export const endpointConnections = (guard: AddressGuard, url: string, connections: number): KeptConnections =>
  keptConnections(new URL(url).origin, {
    ...{ connections, connectMs, keepAliveMs },
    connect: guardedConnector(guard, { connectMs }),
  });

/** The start of an answer as one text that PostgreSQL can store. The rest is read up to a bound, so that the connection is kept. */
async function startOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (bytes < maxAnswerText * 4) chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > maxAnswerBytes) break;
  }
  const text = Buffer.concat(chunks).toString('utf8').slice(0, maxAnswerText);
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

function errorOf(status: number): string {
  if (status >= 200 && status < 300) return '';
  if (status >= 300 && status < 400) return `HTTP ${status}: redirects are not followed`;
  return `HTTP ${status}`;
}

export type Message = { readonly id: string; readonly body: string };
export type Way = { readonly connections: KeptConnections; readonly url: string; readonly secrets: readonly string[] };

/**
 * Sends one message to an endpoint. A fault of the endpoint or the network is a result and does not throw. Null: `signal` aborted
 * the request.
 */
export async function postDelivery(
  message: Message,
  way: Way,
  signal: AbortSignal,
  now: Date,
): Promise<Attempt | null> {
  const started = performance.now();
  const { pathname, search } = new URL(way.url);
  const cut = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
  const request = () =>
    way.connections.pool.request({
      method: 'POST',
      path: `${pathname}${search}`,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Tradepost-Webhooks',
        ...traceHeaders(),
        ...signedHeaders({ ...message, at: now }, way.secrets),
      },
      body: message.body,
      signal: cut,
    });
  const send = () => inCall(callOperation('webhook', 'POST', way.url), request);
  const finished = (result: Pick<Attempt, 'status' | 'error' | 'answer' | 'retryAfterMs'>): Attempt => ({
    ...{ started_at: now, duration_ms: Math.round(performance.now() - started) },
    ...result,
  });
  let status: number | null = null;
  try {
    // The receiver counts ids, so a request on a connection that had just been closed can be sent again at once.
    const response = await send().catch((error: unknown) => {
      if (!way.connections.wasStale(error) || cut.aborted) throw error;
      return send();
    });
    status = response.statusCode;
    const header = response.headers['retry-after'];
    const retryAfterMs = retryAfterOf(Array.isArray(header) ? header[0] : header, now);
    // The answer is for people. When its end does not arrive, the status still counts.
    const answer = await startOf(response.body).catch(() => '');
    return finished({ status, error: errorOf(status), answer, retryAfterMs });
  } catch (error) {
    if (signal.aborted) return null;
    const text = cut.aborted
      ? `no answer within ${attemptMs / 1_000} s`
      : networkFaultText(error, 'the request failed', ownFaults);
    return finished({ status, error: text, answer: '', retryAfterMs: null });
  }
}
