import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { externalSignature, signatureFits } from '@tradepost/external-wms';
import type { InnerCallback } from './callbacks/callback-sender.ts';
import { openSimulator, type Simulator, type SimulatorOptions } from './simulator.ts';

/** A minimal shop for the tests of this package: it calls the simulator and receives callbacks. */
export const appKey = 'demo-key';
export const appSecret = 'demo-secret';
let nonces = 0;
export const unixNow = () => Math.trunc(Date.now() / 1000);

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape
type Json = any;
export type CallResult = { status: number; type: string; text: string; code: unknown; message: string; body: Json };
export type CallOptions = { headers?: Record<string, string>; raw?: string; secret?: string; signal?: AbortSignal };

export async function call(url: string, path: string, body: unknown, options: CallOptions = {}): Promise<CallResult> {
  const text = options.raw ?? JSON.stringify(body);
  nonces += 1;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...{ 'x-app-key': appKey, 'x-timestamp': String(unixNow()), 'x-nonce': `n${nonces}`, 'x-request-mode': 'generic' },
    ...options.headers,
  };
  headers['x-sign'] ??= externalSignature(
    { app_key: headers['x-app-key']!, timestamp: headers['x-timestamp']!, nonce: headers['x-nonce']!, body: text },
    options.secret ?? appSecret,
  );
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: text, signal: options.signal });
  const answer = await response.text();
  let json: Json = null;
  try {
    json = JSON.parse(answer);
  } catch {}
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, text: answer, code: json?.code, message: json?.message ?? '', body: json };
}

export type CallbackSeen = InnerCallback & { nonce: string; signed: boolean };
export type TestShop = {
  url: string;
  seen: CallbackSeen[];
  /** The answers to the next callbacks, in their order; then code 0. `cut` closes the socket. */
  answers: ({ status?: number; code: number } | 'cut')[];
  close(): Promise<void>;
};

export async function openTestShop(onCallback: (seen: CallbackSeen) => void = () => {}): Promise<TestShop> {
  const seen: CallbackSeen[] = [];
  const answers: TestShop['answers'] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const { sign, ...parts } = JSON.parse(text);
      const callback = { ...JSON.parse(parts.body), nonce: parts.nonce, signed: signatureFits(parts, appSecret, sign) };
      seen.push(callback);
      onCallback(callback);
      const answer = answers.shift() ?? { code: 0 };
      if (answer === 'cut') return void request.socket.destroy();
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: answer.code, message: '', data: { received: true } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, seen, answers },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const order = (biz_no: string, items?: readonly (readonly [sku: number, qty: number])[], more: object = {}) => ({
  ...{ biz_type: 'order', biz_no },
  ...(items ? { items: items.map(([sku_id, qty]) => ({ sku_id, qty })) } : {}),
  ...more,
});

/** A simulator, with short names for the calls. */
export async function openTested(options: Partial<SimulatorOptions> = {}) {
  const simulator: Simulator = await openSimulator({ appKey, appSecret, ...options });
  const { url } = simulator;
  type Items = readonly (readonly [sku: number, qty: number])[];
  return {
    simulator,
    close: simulator.close,
    call: (path: string, body: unknown, options?: CallOptions) => call(url, path, body, options),
    reserve: (no: string, items: Items, options?: CallOptions) => call(url, '/reserve', order(no, items), options),
    confirm: (no: string, options?: CallOptions) => call(url, '/confirm', order(no), options),
    release: (no: string, options?: CallOptions) =>
      call(url, '/release', order(no, undefined, { reason: 'cancelled' }), options),
    deduct: (no: string, items: Items) => call(url, '/deduct', order(no, items)),
    restore: (no: string, items: Items) => call(url, '/restore', order(no, items, { reason: 'returned' })),
    sync: (no: string, sku_id: number, stock: number) =>
      call(url, '/sync-sku', { biz_type: 'sku', biz_no: no, sku_id, stock }),
    sku: (id: number) => simulator.ledger().skus.find((row) => row.sku_id === id),
    state: (no: string) => simulator.ledger().documents.find((row) => row.biz_no === no)?.state,
  };
}
export type Tested = Awaited<ReturnType<typeof openTested>>;
