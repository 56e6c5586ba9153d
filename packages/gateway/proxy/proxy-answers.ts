import type { Refused } from '@tradepost/rate-limiter';
import type { Metrics } from '@tradepost/runtime';
import { FastResponse } from 'srvx';
import { type GatewayMetrics, gatewayMetrics } from '../gateway-metrics.ts';
import { errorBody, type ProxyError } from '../messages/openai-errors.ts';
import type { Caller, GatewayDeps } from './gateway-deps.ts';
import {
  commonHeaders,
  type HeaderList,
  jsonType,
  pushRateHeaders,
  type RefusedCost,
  refusalResponse,
} from './rate-answer.ts';

/** Sent with every 503, in seconds. */
const retrySoon: [string, string] = ['retry-after', '1'];

/** Answers of the gateway itself. Each is counted in the metrics. */
export class ProxyAnswers {
  readonly #requests: GatewayMetrics['requests'];
  readonly #gate: GatewayDeps['gate'];

  constructor(metrics: Metrics, gate: GatewayDeps['gate']) {
    this.#requests = gatewayMetrics(metrics).requests;
    this.#gate = gate;
  }

  /** Counts an answer that was built elsewhere. */
  count(endpoint: string, status: number): void {
    this.#requests.labels(endpoint, String(status)).inc();
  }

  respond(endpoint: string, status: number, body: string, id: string, extra?: HeaderList): Response {
    this.#requests.labels(endpoint, String(status)).inc();
    const headers: HeaderList = [jsonType, ['x-request-id', id], ...commonHeaders];
    if (extra) headers.push(...extra);
    return new FastResponse(body, { status, headers });
  }

  refuse(endpoint: string, error: ProxyError, id: string, extra?: HeaderList): Response {
    const headers: HeaderList | undefined = error.status === 503 ? [retrySoon, ...(extra ?? [])] : extra;
    return this.respond(endpoint, error.status, errorBody(error), id, headers);
  }

  refuseRate(endpoint: string, refused: Refused, id: string, cost?: RefusedCost): Response {
    this.#requests.labels(endpoint, '429').inc();
    return refusalResponse(refused, id, cost);
  }

  /** Charges and refuses a request whose cost is unknown, so that such requests are limited too. */
  async refuseCharged(caller: Caller, error: ProxyError): Promise<Response> {
    const verdict = await this.#gate.admit({ token: caller.token, address: caller.address, model: null, tokens: 0 });
    if (!verdict.admitted) return this.refuseRate(caller.endpoint, verdict, caller.id);
    const headers: HeaderList = [];
    pushRateHeaders(headers, verdict);
    return this.refuse(caller.endpoint, error, caller.id, headers);
  }

  /**
   * Refuses by a limit. A request that can never pass is charged as one request. When no requests are left either, the
   * answer is that refusal instead.
   */
  async refuseLimited(caller: Caller, refused: Refused, cost: RefusedCost): Promise<Response> {
    if (refused.waitMs !== null) return this.refuseRate(caller.endpoint, refused, caller.id, cost);
    const verdict = await this.#gate.admit({ token: caller.token, address: caller.address, model: null, tokens: 0 });
    return verdict.admitted
      ? this.refuseRate(caller.endpoint, refused, caller.id, cost)
      : this.refuseRate(caller.endpoint, verdict, caller.id);
  }
}
