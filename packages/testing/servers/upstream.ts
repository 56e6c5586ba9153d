import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

type Received = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as it was received. */
  raw: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: the test knows what it has sent
  body: any;
  /** True: the connection was closed before the end of the answer. */
  aborted: boolean;
};

/** One answer of the upstream. */
export type Behaviour = {
  status?: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: unknown;
  /** The delay before the head of the answer. */
  delayMs?: number;
  /** Chunks of an event stream, sent one by one. */
  chunks?: readonly (string | Uint8Array)[];
  /** Waited for before each chunk except the first. */
  gate?: (index: number) => Promise<unknown>;
  /** After the chunks: the answer ends, the connection is reset, or the connection stays open without data. */
  ends?: 'end' | 'reset' | 'hang';
  /** True: no answer is sent. */
  hang?: boolean;
  /** True: the connection is reset before an answer is sent. */
  reset?: boolean;
};

export type FakeUpstream = {
  /** The base URL, with /v1. */
  url: string;
  received: Received[];
  /** Sets the next answers. They replace answers that were set before and not sent. */
  script(...behaviours: Behaviour[]): void;
  /** Sets the answer for requests without a scripted answer; null for the default answers of a model. */
  always(behaviour: Behaviour | null): void;
  /** The number of connections that were opened so far. */
  connections(): number;
  closeIdle(): void;
  close(): Promise<void>;
};

export const sse = (event: unknown): string => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;

export const delta = (content: string, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
  ...more,
});

export const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

/** The default answer of a model. */
function defaultAnswer({ path, body }: Received): Behaviour {
  const model = body?.model ?? 'm';
  if (path.endsWith('/embeddings')) {
    const inputs = Array.isArray(body.input) ? body.input : [body.input];
    // The OpenAI client asks for base64 by default.
    const vector = Buffer.from(new Float32Array([0.5, -0.25]).buffer).toString('base64');
    const embedding = body.encoding_format === 'base64' ? vector : [0.5, -0.25];
    const data = inputs.map((_: unknown, index: number) => ({ object: 'embedding', index, embedding }));
    return { body: { object: 'list', model, data, usage: { prompt_tokens: 3, total_tokens: 3 } } };
  }
  if (path.endsWith('/responses')) {
    const item = { type: 'message', id: 'i1', role: 'assistant', status: 'completed' };
    const content = [{ type: 'output_text', text: 'hello', annotations: [] }];
    const response = { id: 'resp_1', object: 'response', status: 'completed', model, output: [{ ...item, content }] };
    return { body: { ...response, usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 } } };
  }
  if (path.endsWith('/models')) return { body: { object: 'list', data: [{ id: 'listed-1', object: 'model' }] } };
  if (body?.stream)
    return { chunks: [sse(delta('hel')), sse(delta('lo')), sse({ ...delta(''), choices: [], usage }), sse('[DONE]')] };
  const message = { role: 'assistant', content: 'hello' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  return { body: { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, choices, usage } };
}

const jsonOrNull = (raw: Buffer): unknown => {
  try {
    return JSON.parse(raw.toString());
  } catch {
    return null;
  }
};

async function play(behaviour: Behaviour, req: IncomingMessage, res: ServerResponse, received: Received) {
  const { status = 200, headers = {}, body = {}, delayMs = 0, chunks, gate, ends = 'end', hang, reset } = behaviour;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  res.once('close', () => {
    received.aborted = !res.writableFinished;
    resolve();
  });
  if (delayMs > 0) await Promise.race([sleep(delayMs), closed]);
  if (hang) return;
  if (reset) return req.socket.resetAndDestroy();
  if (!chunks) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    res.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...headers,
    });
    return res.end(text);
  }
  res.writeHead(status, { 'content-type': 'text/event-stream; charset=utf-8', ...headers });
  res.flushHeaders();
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0 && gate) await Promise.race([gate(index), closed]);
    if (res.destroyed) return;
    if (!res.write(chunk)) await Promise.race([new Promise((drained) => res.once('drain', drained)), closed]);
  }
  if (ends === 'reset') req.socket.resetAndDestroy();
  else if (ends === 'end') res.end();
}

/** Starts an OpenAI-compatible service on loopback. It answers as the test defines and records the requests. */
export async function openUpstream(): Promise<FakeUpstream> {
  const received: Received[] = [];
  let scripted: Behaviour[] = [];
  let fallback: Behaviour | null = null;
  let opened = 0;
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('error', () => {});
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      const raw = Buffer.concat(parts);
      const { method = '', url: path = '', headers } = req;
      const entry: Received = { method, path, headers, raw, body: jsonOrNull(raw), aborted: false };
      received.push(entry);
      const behaviour = scripted.shift() ?? fallback ?? defaultAnswer(entry);
      void play(behaviour, req, res, entry);
    });
  });
  server.on('connection', () => {
    opened += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    received,
    script(...behaviours) {
      scripted = behaviours;
    },
    always(behaviour) {
      fallback = behaviour;
    },
    connections: () => opened,
    closeIdle: () => server.closeIdleConnections(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
