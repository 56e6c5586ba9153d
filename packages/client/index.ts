import createFetchClient from 'openapi-fetch';
import { NoAnswerError, RefusalError } from './errors.ts';
import type { paths } from './schema.ts';
import type { Call, CallOptions, Method } from './types.ts';

export { NoAnswerError, type NoAnswerReason, RefusalError } from './errors.ts';
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
  /** The same client with other options, for example with a token after login, or another language. */
  with(options: Partial<ClientOptions>): Client;
};

const defaultTimeoutMs = 15_000;
const passing = new Set([429, 502, 503, 504]);
/** The first request with this key is still running. */
const inProgress = 409;
const maxDelayMs = 10_000;

type Envelope = { code: number; message: string; data: unknown };
type AnyInput = CallOptions & {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  idempotencyKey?: string;
};
/** The untyped interface of openapi-fetch. The types of a call are checked at the call of the client. */
type Request = (
  method: string,
  path: string,
  init: Record<string, unknown>,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

function envelopeIn(raw: unknown): Envelope | null {
  let value = raw;
  if (typeof raw === 'string')
    try {
      value = JSON.parse(raw);
    } catch {
      return null;
    }
  const envelope = value as Partial<Envelope> | null;
  return typeof envelope?.code === 'number' && 'data' in envelope ? (envelope as Envelope) : null;
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

/**
 * A client of the shop with typed paths, parameters, bodies and answers. A call returns the `data` of the envelope. A
 * refusal throws RefusalError. No answer throws NoAnswerError.
 */
export function createClient(clientOptions: ClientOptions): Client {
  const { url, fetch: ownFetch } = clientOptions;
  const api = createFetchClient<paths>({ baseUrl: url, ...(ownFetch ? { fetch: ownFetch as never } : {}) });
  const request = api.request as unknown as Request;

  const once = async (method: Method, path: string, input: AnyInput, options: CallOptions) => {
    const { token, lang, signal, timeoutMs = defaultTimeoutMs } = options;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await request(method, path, {
        params: { path: input.path, query: input.query },
        body: input.body,
        parseAs: 'text',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        headers: {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(lang ? { 'accept-language': lang } : {}),
          ...(input.idempotencyKey ? { 'idempotency-key': input.idempotencyKey } : {}),
          ...clientOptions.headers,
          ...input.headers,
        },
      });
    } catch (cause) {
      // `fetch` fails with a TypeError, or with a DOMException when it is aborted. Other errors are not of `fetch`.
      if (!(cause instanceof TypeError) && !(cause instanceof DOMException)) throw cause;
      if (signal?.aborted) throw new NoAnswerError('aborted', `${method} ${path} was aborted`, { cause });
      if (timeout.aborted)
        throw new NoAnswerError('timeout', `${method} ${path}: no answer within ${timeoutMs} ms`, { cause });
      const reason = (cause as { cause?: Error }).cause?.message || (cause as Error).message;
      throw new NoAnswerError('unreachable', `no shop answers at ${url} (${reason})`, { cause });
    }
  };

  const call = async (method: Method, path: string, input: AnyInput = {}): Promise<unknown> => {
    const options: CallOptions = { ...clientOptions, ...input };
    const mayRepeat = method === 'get' || input.idempotencyKey !== undefined;
    const retries = mayRepeat ? (options.retry ?? 0) : 0;
    for (let attempt = 0; ; attempt += 1) {
      let response: Response | undefined;
      let failure: Error;
      try {
        const answer = await once(method, path, input, options);
        response = answer.response;
        const envelope = envelopeIn(answer.data ?? answer.error);
        const { status } = response;
        if (envelope?.code === 0) return envelope.data;
        failure = envelope
          ? new RefusalError(envelope.message, {
              ...{ code: envelope.code, status, method: method.toUpperCase(), path },
              requestId: response.headers.get('x-request-id') ?? '',
            })
          : new NoAnswerError('not_an_envelope', `${method} ${path}: HTTP ${status} without an envelope`, { status });
      } catch (error) {
        if (!(error instanceof NoAnswerError) || error.reason === 'aborted') throw error;
        failure = error;
      }
      const again = !response || passing.has(response.status) || (response.status === inProgress && method !== 'get');
      if (!again || attempt >= retries) throw failure;
      await wait(delayMs(attempt, response), options.signal);
      if (options.signal?.aborted) throw failure;
    }
  };

  const calls = (method: Method) => ((path: string, input?: AnyInput) => call(method, path, input)) as never;
  return {
    get: calls('get'),
    post: calls('post'),
    put: calls('put'),
    delete: calls('delete'),
    patch: calls('patch'),
    with: (options) => createClient({ ...clientOptions, ...options }),
  };
}
