import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Behaviour,
  type BehaviourOptions,
  changedBehaviour,
  type FaultKind,
  faultKinds,
  openFaults,
} from './behaviour.ts';
import { demoSecretId, openHunyuanService } from './hunyuan.ts';
import { bodyOf, listen, sendEndless, sendJson } from './loopback-http.ts';
import { openaiService } from './openai.ts';
import { drawPng } from './png.ts';
import type { Order, Picture, Received, Service } from './service.ts';
import { openTongyiService } from './tongyi.ts';

export type SimulatorOptions = BehaviourOptions & {
  /** The key that requests must have. Default: `demoImageKey`. */
  key?: string;
  /** Default: 127.0.0.1 and a free port. */
  host?: string;
  port?: number;
};

export type Counters = {
  requests: number;
  pictures: number;
  /** Requests that were refused because of their key or their form. */
  refused: number;
  faults: Record<FaultKind, number>;
};

export type ImageSimulator = {
  url: string;
  /** The endpoint and the key of a model, by the driver of the model. */
  models: Readonly<Record<string, { endpoint: string; key: string }>>;
  counters(): Counters;
  /** The pictures that the accepted requests asked for, the latest last. */
  orders(): readonly Order[];
  /** The faults of the next requests, in their order. null is no fault. */
  plan(...faults: readonly (FaultKind | null)[]): void;
  /** Changes the given options. Throws when the result is not valid. */
  change(options: BehaviourOptions): void;
  close(): Promise<void>;
};

/** No secret: it opens the simulator only. */
export const demoImageKey = 'sk-demo-image-key';

/** Pictures and requests that are remembered. */
const remembered = 200;

function valid(result: ReturnType<typeof changedBehaviour>): Behaviour {
  if ('problems' in result) throw new Error(result.problems.join('; '));
  return result.behaviour;
}

/**
 * An address of this machine where nothing listens. A client that may reach the simulator at 127.0.0.1 may not reach it: the
 * faults `redirect` and `private_url` name it.
 */
const privateUrl = (url: string) => `http://127.0.0.2:${new URL(url).port}/private`;

/** Sends the answer of a fault. False for a fault that changes the pictures only. */
function sendFault(fault: FaultKind, { refusal }: Service, response: ServerResponse, url: string): boolean {
  if (fault === 'hang') return true;
  if (fault === 'huge') sendEndless(response);
  else if (fault === 'broken')
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"created":1,"data":[{"b64_js');
  else if (fault === 'redirect') response.writeHead(307, { location: privateUrl(url) }).end();
  else if (fault === 'error' || fault === 'rate_limit' || fault === 'policy') {
    const { status, answer } = refusal(fault);
    sendJson(response, status, answer, fault === 'rate_limit' ? { 'retry-after': '1' } : {});
  } else return false;
  return true;
}

/** The endpoint and the key of a model of each driver. */
const modelsAt = (url: string, key: string): ImageSimulator['models'] => ({
  openai: { endpoint: `${url}/v1`, key },
  wenxin: { endpoint: `${url}/v2`, key },
  tongyi: { endpoint: `${url}/api/v1`, key },
  hunyuan: { endpoint: url, key: `${demoSecretId}:${key}` },
});

/** Starts the services on one port. */
export async function openImageSimulator(options: SimulatorOptions = {}): Promise<ImageSimulator> {
  const { key = demoImageKey, host = '127.0.0.1', port = 0, ...given } = options;
  let behaviour = valid(changedBehaviour(given));
  const nextFault = openFaults(() => behaviour);
  const services: readonly Service[] = [openaiService, openTongyiService(), openHunyuanService()];
  const planned: (FaultKind | null)[] = [];
  const orders: Order[] = [];
  const files = new Map<string, Buffer>();
  /** The files whose next request gets HTTP 503. */
  const busy = new Set<string>();
  const faults = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as Counters['faults'];
  const counts = { requests: 0, pictures: 0, refused: 0 };
  const closed = new AbortController();
  let url = '';

  const pictureOf = (order: Order, index: number, fault: FaultKind | null, form: Behaviour['answers']): Picture => {
    if (fault === 'private_url') return { url: privateUrl(url) };
    const drawn = () => drawPng(`${order.prompt} ${index}`, order.width, order.height);
    const bytes = fault === 'not_image' ? Buffer.from('%PDF-1.4 no picture') : drawn();
    counts.pictures += 1;
    if (form === 'b64_json' && fault !== 'picture_busy') return { b64_json: bytes.toString('base64') };
    const path = `/files/${counts.pictures}.png`;
    files.set(path, bytes);
    if (fault === 'picture_busy') busy.add(path);
    if (files.size > remembered) files.delete(files.keys().next().value!);
    return { url: url + path };
  };

  const answer = async (service: Service, request: Received, response: ServerResponse): Promise<void> => {
    counts.requests += 1;
    const read = service.read(request, key);
    if (!('order' in read)) {
      if (read.isRefused ?? read.status !== 200) counts.refused += 1;
      return sendJson(response, read.status, read.answer);
    }
    const fault = planned.length > 0 ? planned.shift()! : nextFault();
    if (fault) faults[fault] += 1;
    orders.push(read.order);
    if (orders.length > remembered) orders.shift();
    if (behaviour.latencyMs > 0) await sleep(behaviour.latencyMs, undefined, { signal: closed.signal });
    if (fault && sendFault(fault, service, response, url)) return;
    const count = fault === 'empty' ? 0 : read.order.count;
    const form = service.answersUrls ? 'url' : behaviour.answers;
    const pictures = Array.from({ length: count }, (_, index) => pictureOf(read.order, index, fault, form));
    sendJson(response, 200, read.answer(pictures, fault));
  };

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = message.url!.split('?', 1)[0]!;
    if (path === '/_counters') return sendJson(response, 200, { ...counts, faults });
    if (busy.delete(path)) return sendJson(response, 503, { message: 'simulated fault' });
    const file = files.get(path);
    if (file) return void response.writeHead(200, { 'content-type': 'image/png' }).end(file);
    const body = await bodyOf(message);
    if (!body) return sendJson(response, 413, { message: 'too large' });
    const request = { method: message.method!, path, headers: message.headers, body };
    const service = services.find((one) => one.matches(request));
    if (!service) return sendJson(response, 404, { message: 'no such path' });
    await answer(service, request, response);
  };
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  url = await listen(server, port, host);
  return {
    url,
    models: modelsAt(url, key),
    counters: () => structuredClone({ ...counts, faults }),
    orders: () => orders,
    plan: (...next) => void planned.push(...next),
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
