import { NoAnswerError } from './errors.ts';
import type { CallOptions } from './types.ts';

export type RequestInput = CallOptions & {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
};

const defaultTimeoutMs = 15_000;

/** The URL of a call. Query values that are absent or null are left out. A list repeats its name. */
function urlOf(base: string, path: string, { path: values = {}, query = {} }: RequestInput): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(values[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) search.append(name, String(one));
  return `${base.replace(/\/+$/, '')}${filled}${search.size > 0 ? `?${search}` : ''}`;
}

function bodyOf(body: unknown): { body?: string | FormData; type?: string } {
  if (body === undefined) return {};
  // `fetch` sets the type of a form, with its boundary.
  return body instanceof FormData ? { body } : { body: JSON.stringify(body), type: 'application/json' };
}

/** Sends one request and reads its answer. Throws NoAnswerError without an answer. */
export async function sendRequest(
  { base, fetch }: { base: string; fetch: typeof globalThis.fetch },
  method: string,
  path: string,
  input: RequestInput & { idempotencyKey: string | undefined },
): Promise<{ response: Response; text: string }> {
  const { token, lang, signal, timeoutMs = defaultTimeoutMs, idempotencyKey } = input;
  const timeout = AbortSignal.timeout(timeoutMs);
  const { body, type } = bodyOf(input.body);
  try {
    const request = new Request(urlOf(base, path, input), {
      method,
      body,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      headers: {
        ...(type ? { 'content-type': type } : {}),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(lang ? { 'accept-language': lang } : {}),
        ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
        ...input.headers,
      },
    });
    const response = await fetch(request);
    return { response, text: await response.text() };
  } catch (cause) {
    // `fetch` fails with a TypeError, or with a DOMException when it is aborted. Other errors are not of `fetch`.
    if (!(cause instanceof TypeError) && !(cause instanceof DOMException)) throw cause;
    if (signal?.aborted) throw new NoAnswerError('aborted', `${method} ${path} was aborted`, { cause });
    if (timeout.aborted)
      throw new NoAnswerError('timeout', `${method} ${path}: no answer within ${timeoutMs} ms`, { cause });
    const reason = (cause as { cause?: Error }).cause?.message || cause.message;
    throw new NoAnswerError('unreachable', `no shop answers at ${base} (${reason})`, { cause });
  }
}
