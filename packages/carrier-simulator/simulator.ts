import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Behaviour,
  type BehaviourOptions,
  changedBehaviour,
  type FaultKind,
  faultKinds,
  openFaults,
  type ServiceName,
} from './behaviour.ts';
import { exchangeFor, readExchanges } from './exchanges.ts';
import { type Accounts, type Query, type Service, services } from './services.ts';

export type SimulatorOptions = BehaviourOptions & {
  /** The accounts that may query. Default: `demoAccounts`. */
  accounts?: Accounts;
  /** Default: 127.0.0.1 and a free port. */
  host?: string;
  port?: number;
};

export type Counters = {
  /** Queries with a correct signature, by service. */
  queries: Record<ServiceName, number>;
  /** Queries that were refused because of their signature or their form. */
  refused: number;
  faults: Record<FaultKind, number>;
  /** Queries of each shipment, by tracking number. */
  seen: Record<string, number>;
};

export type CarrierSimulator = {
  url: string;
  /** The address to which queries of a service are sent. */
  apiUrl(service: ServiceName): string;
  counters(): Counters;
  /** The number of queries of a shipment, by both services. */
  seen(trackingNo: string): number;
  /** Changes the given options. Throws when the result is not valid. */
  change(options: BehaviourOptions): void;
  close(): Promise<void>;
};

export const demoAccounts: Accounts = {
  kuaidi100: { customer: 'DEMO-CUSTOMER', key: 'demo-key' },
  kdniao: { ebusinessId: '1000001', apiKey: 'demo-api-key' },
};

const maxBodyBytes = 64 * 1024;
/** Shipments that the counters remember. */
const maxSeen = 1_000_000;

/** The form of a request; null when it is too large. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  let text = '';
  // Read to its end also when it is too large, so that the answer can be sent.
  for await (const chunk of request) if (text.length <= maxBodyBytes) text += String(chunk);
  return text.length > maxBodyBytes ? null : new URLSearchParams(text);
}

function sendJson(response: ServerResponse, status: number, answer: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(answer));
}

/** Answers that are not of the protocol, one after the other. */
const garbage: readonly ((response: ServerResponse) => void)[] = [
  (response) => void response.end('<html><body>502 Bad Gateway</body></html>'),
  (response) => void response.end('{"status":"200","data":[{"time":"20'),
  (response) => sendJson(response, 200, [1, 2, 3]),
  (response) => sendJson(response, 200, { status: { code: 200 }, Success: 'yes', data: 'none', Traces: 7 }),
  (response) => void response.end('\0'.repeat(400 * 1024)),
];

async function listen(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
}

function valid(result: ReturnType<typeof changedBehaviour>): Behaviour {
  if ('faults' in result) throw new Error(result.faults.join('; '));
  return result.behaviour;
}

/** Starts both services on one port. The n-th query of a shipment gets its n-th recorded answer, and later ones the last. */
export async function openCarrierSimulator(options: SimulatorOptions = {}): Promise<CarrierSimulator> {
  const { accounts = demoAccounts, host = '127.0.0.1', port = 0, ...given } = options;
  const exchanges = await readExchanges();
  let behaviour = valid(changedBehaviour(given));
  const faultOf = openFaults(() => behaviour);
  const seen = new Map<string, number>();
  const queries: Counters['queries'] = { kuaidi100: 0, kdniao: 0 };
  const faults = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as Counters['faults'];
  let refused = 0;
  const closed = new AbortController();

  const answerOf = ({ name, addressed, unknown, asksPhone }: Service, query: Query, fault: FaultKind | null) => {
    if (fault === 'refuse') return unknown(query);
    if (asksPhone.includes(query.company) && query.phone === '') return unknown(query);
    const { answers } = exchangeFor(exchanges, name, query.tracking_no);
    const nth = fault === 'regress' ? 1 : Math.min(seen.get(query.tracking_no) ?? 1, answers.length);
    return addressed(answers[nth - 1]!, query);
  };

  const answer = async (service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = await readForm(request);
    const read = form && service.read(form, accounts);
    if (!read || 'refusal' in read) {
      refused += 1;
      return sendJson(response, read ? 200 : 413, read ? read.refusal : { message: 'too large' });
    }
    const { tracking_no } = read.query;
    queries[service.name] += 1;
    if (seen.size < maxSeen || seen.has(tracking_no)) seen.set(tracking_no, (seen.get(tracking_no) ?? 0) + 1);
    const fault = faultOf(service.name);
    if (fault) faults[fault] += 1;
    if (fault === 'timeout') return;
    if (behaviour.latencyMs > 0) await sleep(behaviour.latencyMs, undefined, { signal: closed.signal });
    if (fault === 'garbage') return garbage[faults.garbage % garbage.length]!(response);
    if (fault === 'error') return sendJson(response, 502, { message: 'simulated fault' });
    sendJson(response, 200, answerOf(service, read.query, fault));
  };

  const counters = (): Counters => structuredClone({ queries, refused, faults, seen: Object.fromEntries(seen) });
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    if (path === '/_counters') return sendJson(response, 200, counters());
    const service = services.find((one) => one.path === path);
    if (!service || request.method !== 'POST') return sendJson(response, 404, { message: 'no such path' });
    answer(service, request, response).catch(() => response.destroy());
  });
  const url = await listen(server, port, host);
  return {
    url,
    apiUrl: (name) => url + services.find((one) => one.name === name)!.path,
    counters,
    seen: (trackingNo) => seen.get(trackingNo) ?? 0,
    change(changes) {
      behaviour = valid(changedBehaviour(changes, behaviour));
    },
    async close() {
      closed.abort();
      server.close();
      server.closeAllConnections();
    },
  };
}
