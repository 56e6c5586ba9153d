import { callOperation, inCall, networkFaultText, type Runtime, secretsMask, traceHeaders } from '@tradepost/runtime';
import { carrierMetrics } from '../carrier-metrics.ts';
import { maxAnswerBytes } from '../limits.ts';
import { carrierTimeoutMs } from '../settings.ts';
import type { CarrierAnswer, CarrierDriver, CarrierQuery, SettingReader } from './driver.ts';
import { carrierText } from './nodes.ts';
import { type Line, openServiceLines } from './service-lines.ts';

/** unreachable: no answer in time, or a fault of the network. */
type Answered = CarrierAnswer | { readonly kind: 'unreachable'; readonly reason: string };
/** The outcome of a query. unsent: it was not sent, because the circuit is open or the time is over. */
type QueryOutcome = { readonly ms: number } & (Answered | { readonly kind: 'unsent'; readonly pauseMs: number });

export type QueryOptions = {
  /** Queries also while the circuit is open: an operator has asked for this query. */
  readonly byHand: boolean;
  /** The query is not sent when it could end after this time. */
  readonly sendBefore: Date;
  /** Nothing is sent after this signal. */
  readonly stopping?: AbortSignal | undefined;
  /** Ends the query also while it runs. */
  readonly signal?: AbortSignal | undefined;
};

export type CarrierClient = {
  /** Queries a carrier service. Its faults and those of the network are outcomes and do not throw. */
  query(driver: CarrierDriver, query: CarrierQuery, options: QueryOptions): Promise<QueryOutcome>;
  /** Aborts the running queries. */
  close(): Promise<void>;
};

const tooLarge = { UND_ERR_RES_EXCEEDED_MAX_SIZE: `the answer is larger than ${maxAnswerBytes / 1024} KiB` };
const faultText = (error: unknown) => networkFaultText(error, 'the query failed', tooLarge);

const unreachable = (reason: string): Answered => ({ kind: 'unreachable', reason });

/** Parses JSON, with `mask` applied to all names and texts. Undefined when the text is not JSON. */
function parseJson(text: string, mask: (text: string) => string): unknown {
  const masked = (_name: string, value: unknown) => {
    if (typeof value === 'string') return mask(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const fields = Object.entries(value);
    const names = fields.map(([name]) => mask(name));
    return fields.some(([name], i) => name !== names[i])
      ? Object.fromEntries(fields.map(([, field], i) => [names[i]!, field]))
      : value;
  };
  try {
    return JSON.parse(text, masked);
  } catch {
    return undefined;
  }
}

/** Runs `send` and resolves after `ms` at the latest, also when a request without a connection ignores its abort. */
async function within(
  ms: number,
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<Answered>,
): Promise<Answered> {
  const cut = new AbortController();
  const ended = Promise.withResolvers<Answered>();
  const stop = (reason: string) => {
    ended.resolve(unreachable(reason));
    cut.abort();
  };
  const timer = setTimeout(() => stop(`no answer within ${ms} ms`), ms);
  const onAbort = () => stop('the query was given up');
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const answered = send(cut.signal).catch((error: unknown) => unreachable(faultText(error)));
    return await Promise.race([ended.promise, answered]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Masks the phone in a reason, because a service may quote the request. Then cuts the text. */
function masked(outcome: Answered, { phone }: CarrierQuery): Answered {
  if (outcome.kind === 'found') return outcome;
  const reason = phone === '' ? outcome.reason : outcome.reason.replaceAll(phone, '***');
  return { ...outcome, reason: carrierText(reason, 300) };
}

/**
 * Opens a client for all carrier services. Each service has its own connections, its own limit of concurrent queries and
 * its own circuit breaker. Every query reads the settings.
 */
export function openCarrierClient({
  settings,
  log,
  metrics,
}: Pick<Runtime, 'log' | 'metrics'> & { readonly settings: SettingReader }): CarrierClient {
  const { queries, querySeconds } = carrierMetrics(metrics);
  const services = openServiceLines(settings);
  let closed = false;

  async function exchange(driver: CarrierDriver, query: CarrierQuery, signal: AbortSignal) {
    const { origin, pathname, search } = new URL(settings.get(driver.apiUrl));
    const { pool, wasStale } = services.serviceAt(driver, origin);
    const { headers: own, body } = driver.request(settings, query);
    const secrets = driver.account.filter(({ secret }) => secret).map((one) => settings.get(one));
    const send = () =>
      inCall(callOperation(driver.name, 'POST', origin), () => {
        const headers = { ...own, ...traceHeaders() };
        return pool.request({ method: 'POST', path: pathname + search, headers, body, signal });
      });
    // A service may close a kept connection just when a request is written to it. A query changes nothing, so it is repeated.
    const response = await send().catch((error: unknown) => {
      if (!wasStale(error) || signal.aborted) throw error;
      return send();
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) return unreachable(`HTTP ${response.statusCode}`);
    // A service may quote the request in any field, also in the events of a shipment, which shoppers see. Masked before it is read,
    // because drivers cut texts.
    const answer = parseJson(text, secretsMask(secrets));
    return answer === undefined
      ? { kind: 'garbage' as const, reason: 'the answer is not JSON' }
      : driver.read(answer, query.tracking_no);
  }

  async function send({ circuit }: Line, driver: CarrierDriver, query: CarrierQuery, options: QueryOptions) {
    const timeoutMs = settings.get(carrierTimeoutMs);
    if (Date.now() + timeoutMs > options.sendBefore.getTime()) return { kind: 'unsent', pauseMs: 0, ms: 0 } as const;
    const started = performance.now();
    if (!options.byHand && !circuit.allows(started))
      return { kind: 'unsent', pauseMs: Math.max(circuit.pauseLeftMs(started), 1_000), ms: 0 } as const;
    const isTrial = circuit.begin(started);
    const answered = await within(timeoutMs, options.signal, (signal) => exchange(driver, query, signal));
    const ms = Math.round(performance.now() - started);
    const outcome = masked(answered, query);
    if (options.signal?.aborted) {
      if (isTrial) circuit.abandonTrial();
    } else if (outcome.kind === 'garbage' || outcome.kind === 'unreachable') {
      circuit.fail(performance.now(), isTrial);
      log.debug({ driver: driver.name, outcome: outcome.kind, reason: outcome.reason }, 'carrier query failed');
    } else circuit.succeed();
    queries.inc({ driver: driver.name, outcome: outcome.kind });
    querySeconds.observe({ driver: driver.name }, ms / 1000);
    return { ...outcome, ms };
  }

  return {
    async query(driver, query, options) {
      const line = services.lineOf(driver);
      // A query by hand does not wait behind those of a batch.
      const run = (): Promise<QueryOutcome> | QueryOutcome =>
        closed || options.signal?.aborted || options.stopping?.aborted
          ? { kind: 'unsent', pauseMs: 0, ms: 0 }
          : send(line, driver, query, options);
      return options.byHand ? run() : line.limit(run);
    },
    async close() {
      closed = true;
      await services.close();
    },
  };
}
