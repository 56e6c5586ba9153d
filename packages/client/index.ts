import { NoAnswerError, type RefusalCode, RefusalError } from './errors.ts';
import { type RequestInput, sendRequest } from './send-request.ts';
import type { Call, CallOptions, IterateItems, IteratePages, Method } from './types.ts';

export { NoAnswerError, type NoAnswerReason, type RefusalCode, RefusalError } from './errors.ts';
export type { components, paths } from './schema.ts';
export type { CallOptions, DataOf, OperationOf } from './types.ts';

export type ClientOptions = CallOptions & {
  /** `https://shop.example` */
  url: string;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
};

export type Client = {
  get: Call<'get'>;
  post: Call<'post'>;
  put: Call<'put'>;
  delete: Call<'delete'>;
  patch: Call<'patch'>;
  /** The pages of a list, from `query.page` on (default 1). Each page is requested when the loop needs it. */
  pages: IteratePages;
  /** The items of a list, page by page. Items that are added meanwhile can move an item to the next page, so it comes twice. */
  items: IterateItems;
  /** The same client with other options, for example with a token after login, or another language. */
  with(options: Partial<ClientOptions>): Client;
};

const passing = new Set([429, 502, 503, 504]);
/** The first request with this key is still running. */
const inProgress = 409;
const maxDelayMs = 10_000;

type Envelope = { code: number; message: string; data: unknown };
type AnyInput = RequestInput & { idempotencyKey?: string | true };
type AnyPage = { list: unknown[]; total: number; page: number; size: number };

function envelopeIn(text: string): Envelope | null {
  try {
    const value = JSON.parse(text) as Partial<Envelope> | null;
    return typeof value?.code === 'number' && 'data' in value ? (value as Envelope) : null;
  } catch {
    return null;
  }
}

const wait = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * The pause doubles with each attempt, with a random part, so that clients do not retry at the same moment. Retry-After
 * has priority.
 */
function delayMs(attempt: number, response: Response | undefined): number {
  const asked = Number(response?.headers.get('retry-after') ?? Number.NaN);
  if (Number.isFinite(asked)) return Math.min(asked * 1_000, maxDelayMs);
  return Math.min(200 * 2 ** attempt, maxDelayMs) * (0.5 + Math.random() / 2);
}

/** The `data` of an answer, or the error that a call throws. */
function outcomeOf(method: string, path: string, response: Response, text: string): { data: unknown } | Error {
  const envelope = envelopeIn(text);
  const { status } = response;
  if (!envelope)
    return new NoAnswerError('not_an_envelope', `${method} ${path}: HTTP ${status} without an envelope`, { status });
  if (envelope.code === 0) return { data: envelope.data };
  return new RefusalError(envelope.message, {
    ...{ code: envelope.code as RefusalCode, status, method, path },
    requestId: response.headers.get('x-request-id') ?? '',
  });
}

/** Sends a call, and repeats it as often as `retry` allows. */
async function send(clientOptions: ClientOptions, method: string, path: string, input: AnyInput): Promise<unknown> {
  const options = { ...clientOptions, ...input, headers: { ...clientOptions.headers, ...input.headers } };
  const target = { base: clientOptions.url, fetch: clientOptions.fetch ?? globalThis.fetch };
  // All attempts of one call have the same key.
  const idempotencyKey = input.idempotencyKey === true ? crypto.randomUUID() : input.idempotencyKey;
  const isRead = method === 'GET';
  const retries = isRead || idempotencyKey !== undefined ? (options.retry ?? 0) : 0;
  for (let attempt = 0; ; attempt += 1) {
    let response: Response | undefined;
    let outcome: { data: unknown } | Error;
    try {
      const answer = await sendRequest(target, method, path, { ...options, idempotencyKey });
      response = answer.response;
      outcome = outcomeOf(method, path, response, answer.text);
    } catch (error) {
      if (!(error instanceof NoAnswerError) || error.reason === 'aborted') throw error;
      outcome = error;
    }
    if (!(outcome instanceof Error)) return outcome.data;
    const again = !response || passing.has(response.status) || (response.status === inProgress && !isRead);
    if (!again || attempt >= retries) throw outcome;
    await wait(delayMs(attempt, response), options.signal);
    if (options.signal?.aborted) throw outcome;
  }
}

/**
 * A client of the shop with typed paths, parameters, bodies and answers. A call returns the `data` of the envelope. A
 * refusal throws RefusalError. No answer throws NoAnswerError.
 */
export function createClient(clientOptions: ClientOptions): Client {
  const calls = (method: Method) =>
    ((path: string, input: AnyInput = {}) => send(clientOptions, method.toUpperCase(), path, input)) as never;

  async function* pages(path: string, input: AnyInput = {}): AsyncGenerator<AnyPage> {
    for (let number = Number(input.query?.page ?? 1); ; number += 1) {
      const query = { ...input.query, page: number };
      const page = (await send(clientOptions, 'GET', path, { ...input, query })) as AnyPage;
      if (page.list.length > 0) yield page;
      if (page.list.length < page.size || page.page * page.size >= page.total) return;
    }
  }
  async function* items(path: string, input?: AnyInput) {
    for await (const { list } of pages(path, input)) yield* list;
  }

  return {
    get: calls('get'),
    post: calls('post'),
    put: calls('put'),
    delete: calls('delete'),
    patch: calls('patch'),
    pages: pages as never,
    items: items as never,
    with: (options) => createClient({ ...clientOptions, ...options }),
  };
}
