import type { Route } from '@tradepost/http';
import { undocumented } from './routes/document.ts';
import { formOf } from './routes/multipart.ts';
import { type SentRequest, sendRequest } from './send-request.ts';

export type CallOptions = {
  token?: string;
  /** Sent as JSON. A FormData is sent as it is, and so is the form of a streamed route, with an example file. */
  body?: unknown;
  /** Sent unchanged. The content type is in `headers`. */
  rawBody?: string | Uint8Array;
  headers?: Record<string, string>;
  lang?: string;
};
// biome-ignore lint/suspicious/noExplicitAny: the test knows the type of the data
export type Answer = { status: number; code: number; message: string; data: any; headers: Headers; body: any };

type RoutePattern = { route: Route; parts: string[]; params: number };
const patternsByRoutes = new WeakMap<readonly Route[], Map<string, RoutePattern[]>>();

/** The patterns of the routes by method and number of segments. */
function patternsOf(routes: readonly Route[]): Map<string, RoutePattern[]> {
  let patterns = patternsByRoutes.get(routes);
  if (!patterns) {
    const all = routes.map((route) => {
      const parts = route.path.split('/');
      return { route, parts, params: parts.filter((part) => part.startsWith(':')).length };
    });
    // As in the router, a literal segment has precedence over a parameter.
    all.sort((a, b) => a.params - b.params);
    patterns = Map.groupBy(all, ({ route, parts }) => `${route.method} ${parts.length}`);
    patternsByRoutes.set(routes, patterns);
  }
  return patterns;
}

function routeOf(routes: readonly Route[], method: string, path: string): Route | undefined {
  const given = path.split('?')[0]!.split('/');
  return patternsOf(routes)
    .get(`${method} ${given.length}`)
    ?.find(({ parts }) => parts.every((part, i) => part.startsWith(':') || part === given[i]))?.route;
}

type Envelope = { code: number; message: string; msg: string; data: unknown };

function checkedAnswer(routes: readonly Route[], method: string, path: string, status: number, text: string): Envelope {
  const answer = JSON.parse(text) as Envelope;
  for (const key of ['code', 'message', 'msg', 'data'])
    if (!(key in answer)) throw new Error(`${method} ${path}: the envelope has no ${key}: ${text}`);
  if (answer.msg !== answer.message) throw new Error(`${method} ${path}: msg differs from message`);
  const route = routeOf(routes, method, path);
  const difference = undocumented(route, status, answer);
  if (difference) throw new Error(`${method} ${path}: the answer differs from /openapi.json: ${difference}`);
  if (answer.code === 0) {
    if (!route) throw new Error(`${method} ${path} succeeded, but no route has this path`);
    const parsed = route.response.safeParse(answer.data);
    if (!parsed.success)
      throw new Error(`${method} ${path}: the answer does not match the schema: ${parsed.error.message}`);
  } else if (answer.data !== null) {
    throw new Error(`${method} ${path}: the data of a refusal is not null`);
  }
  return answer;
}

/** The text of a file, which has no envelope. Checks that the route answers this type, and the text against its schema. */
function checkedFile(route: Route | undefined, type: string, text: string): Envelope {
  if (route?.file?.type !== type) throw new Error(`no route answers ${type} here`);
  const parsed = route.response.safeParse(text);
  if (!parsed.success) throw new Error(`${route.path}: the file does not match the schema: ${parsed.error.message}`);
  return { code: 0, message: 'success', msg: 'success', data: text };
}

/** A `fetch` for the typed client that checks each answer as `call` does. */
export const checkedFetch = (routes: readonly Route[]) =>
  (async (request: Request) => {
    const response = await fetch(request);
    const { pathname, search } = new URL(request.url);
    checkedAnswer(routes, request.method, pathname + search, response.status, await response.clone().text());
    return response;
  }) as typeof fetch;

/** The body as it is sent, and the content type of JSON. A form has its own, and a raw body that of `headers`. */
function sentBody(
  routes: readonly Route[],
  method: string,
  path: string,
  { body, rawBody }: CallOptions,
): { sent: SentRequest['body']; type: Record<string, string> } {
  if (body === undefined) return { sent: rawBody, type: {} };
  if (body instanceof FormData) return { sent: body, type: {} };
  const route = routeOf(routes, method, path);
  if (route?.bodyStream) return { sent: formOf(route, body as Record<string, unknown>), type: {} };
  return { sent: JSON.stringify(body), type: { 'content-type': 'application/json' } };
}

/**
 * Sends one request and checks the answer: the envelope is complete, status and data agree with the OpenAPI document, and
 * `data` matches the response schema of the route. It does not check that the request succeeded.
 */
export async function call(
  url: string,
  routes: readonly Route[],
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { token, headers = {}, lang = 'en' } = options;
  const { sent, type: sentType } = sentBody(routes, method, path, options);
  const {
    status,
    headers: received,
    text,
  } = await sendRequest(url + path, {
    method,
    headers: {
      'accept-language': lang,
      ...(token !== undefined ? { authorization: `Bearer ${token}` } : {}),
      ...sentType,
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
    timeoutMs: 60_000,
  });
  if (method === 'HEAD') return { status, code: 0, message: '', data: null, headers: received, body: null };
  const type = received.get('content-type') ?? '';
  const answer = type.startsWith('application/json')
    ? checkedAnswer(routes, method, path, status, text)
    : checkedFile(routeOf(routes, method, path), type, text);
  const { code, message, data } = answer;
  return { status, code, message, data, headers: received, body: answer };
}
