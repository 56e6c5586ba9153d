import { type Dispatcher, Pool } from 'undici';

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};
type RequestOptions = { readonly token?: string; readonly body?: string; readonly signal?: AbortSignal };

/** Sends requests to one gateway. */
export type GatewayClient = {
  request(method: 'GET' | 'POST', path: string, options?: RequestOptions): Promise<Answer>;
  close(): Promise<void>;
};

const timeouts = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** Opens at most `connections` connections. Each carries one request at a time. */
export function openGatewayClient(
  url: string,
  { connections, timeoutMs }: { connections: number; timeoutMs: number },
): GatewayClient {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/+$/, '');
  const pool = new Pool(origin, {
    connections,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs },
  });
  const send = async (request: Dispatcher.RequestOptions): Promise<Answer> => {
    const { statusCode, headers, body } = await pool.request(request);
    return { status: statusCode, headers, body: await body.text() };
  };
  return {
    request: (method, path, { token, body, signal } = {}) =>
      send({
        method,
        path: prefix + path,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body ?? null,
        signal,
      }).catch((error: NodeJS.ErrnoException) => {
        if (timeouts.has(error.code ?? '')) throw new Error(`no answer within ${timeoutMs / 1_000} s`);
        throw error;
      }),
    close: () => pool.destroy(),
  };
}

/** null for a body that is not JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
