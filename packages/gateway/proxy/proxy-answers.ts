import type { Refused } from '@tradepost/rate-limiter';
import type { Metrics } from '@tradepost/runtime';
import { FastResponse } from 'srvx';
import { type GatewayMetrics, gatewayMetrics } from '../gateway-metrics.ts';
import { errorBody, type ProxyError } from '../messages/openai-errors.ts';
import type { Asker, GatewayDeps } from './gateway-deps.ts';
import { commonHeaders, type HeaderList, jsonType, pushRateHeaders, refusalResponse } from './rate-answer.ts';

/** Of every 503, in seconds. */
const retrySoon: [string, string] = ['retry-after', '1'];

/** Answers that the gateway gives itself; each is counted in the metrics. */
export class ProxyAnswers {
  readonly #requests: GatewayMetrics['requests'];
  readonly #gate: GatewayDeps['gate'];

  constructor(metrics: Metrics, gate: GatewayDeps['gate']) {
    this.#requests = gatewayMetrics(metrics).requests;
    this.#gate = gate;
  }

  /** Counts an answer that the proxy made. */
  count(endpoint: string, status: number): void {
    this.#requests.labels(endpoint, String(status)).inc();
  }

  respond(endpoint: string, status: number, body: string, id: string, extra?: HeaderList): Response {
    this.#requests.labels(endpoint, String(status)).inc();
    const headers: HeaderList = [jsonType, ['x-request-id', id], ...(commonHeaders as HeaderList)];
    if (extra) headers.push(...extra);
    return new FastResponse(body, { status, headers });
  }

  refuse(endpoint: string, error: ProxyError, id: string, extra?: HeaderList): Response {
    const headers: HeaderList | undefined = error.status === 503 ? [retrySoon, ...(extra ?? [])] : extra;
    return this.respond(endpoint, error.status, errorBody(error), id, headers);
  }

  refuseRate(endpoint: string, refused: Refused, id: string, tokens: number | null = 0): Response {
    this.#requests.labels(endpoint, '429').inc();
    return refusalResponse(refused, id, tokens);
  }

  /** Charges a request that is refused before its work is known, so that such requests are limited too. */
  async refuseCounted(of: Asker, error: ProxyError): Promise<Response> {
    const verdict = await this.#gate.admit({ token: of.token, address: of.address, model: null, tokens: 0 });
    if (!verdict.admitted) return this.refuseRate(of.endpoint, verdict, of.id);
    const headers: HeaderList = [];
    pushRateHeaders(headers, verdict);
    return this.refuse(of.endpoint, error, of.id, headers);
  }

  /** A request that no limit ever allows is charged as one request; a caller who is out of requests gets that refusal instead. */
  async refuseLimited(of: Asker, refused: Refused, tokens: number | null): Promise<Response> {
    if (refused.waitMs !== null) return this.refuseRate(of.endpoint, refused, of.id, tokens);
    const verdict = await this.#gate.admit({ token: of.token, address: of.address, model: null, tokens: 0 });
    return verdict.admitted
      ? this.refuseRate(of.endpoint, refused, of.id, tokens)
      : this.refuseRate(of.endpoint, verdict, of.id);
  }
}
