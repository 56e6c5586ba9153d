import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { GatewayFacts, TokenFacts } from './gateway-book.ts';

export type Answered = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };
type AskFunction = (
  method: 'GET' | 'POST',
  path: string,
  options?: { token?: string; body?: string; signal?: AbortSignal },
) => Promise<Answered>;
export type Ask = AskFunction & { close(): void };

/** Kept connections to one gateway; at most so many, each used by one request at a time. */
export function openAsk(url: string, { connections, timeoutMs }: { connections: number; timeoutMs: number }): Ask {
  const base = new URL(url);
  const prefix = base.pathname.replace(/\/+$/, '');
  const isTls = base.protocol === 'https:';
  const agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: connections });
  const send = isTls ? httpsRequest : httpRequest;
  const { hostname, port } = base;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const ask: AskFunction = (method, path, { token, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      const headers = {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      };
      const options = { agent, host, port, method, path: prefix + path, headers, signal };
      const request = send(options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
        response.on('error', reject);
      });
      request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
      request.on('error', reject);
      request.end(body);
    });
  return Object.assign(ask, { close: () => agent.destroy() });
}

/** What the administration answers; throws what a person can act on. */
async function adminData(ask: Ask, path: string, token: string): Promise<unknown> {
  const { status, body } = await ask('GET', path, { token });
  const answer = parsed(body) as { code?: number; message?: string; data?: unknown } | null;
  if (status !== 200 || answer?.code !== 0)
    throw new Error(
      `the gateway does not tell its limits: ${answer?.message ?? `status ${status}`} (${path.split('?')[0]})`,
    );
  return answer.data;
}

export function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** Characters of a secret that are stored, with the mark. */
const prefixLength = 11;
export const prefixOf = (secret: string): string => secret.slice(0, prefixLength);
/** Questions at once. */
const atOnce = 8;

type TokenRow = { prefix: string; user_id: number; effective: TokenFacts['limits'] };

/** The limits in force of these API tokens, of this address and of a model. */
export async function readFacts(
  ask: Ask,
  adminToken: string,
  tokens: readonly string[],
  model: string | null,
): Promise<GatewayFacts> {
  const found: (TokenFacts | undefined)[] = new Array(tokens.length).fill(undefined);
  const places = tokens.keys();
  const read = async () => {
    for (const place of places) {
      const prefix = prefixOf(tokens[place]!);
      const query = new URLSearchParams({ keyword: prefix, size: '100' });
      const data = (await adminData(ask, `/api/admin/api-tokens?${query}`, adminToken)) as { list: TokenRow[] };
      const rows = data.list.filter((row) => row.prefix === prefix);
      // Two secrets that begin alike can not be told apart.
      if (rows.length === 1) found[place] = { userId: rows[0]!.user_id, limits: rows[0]!.effective };
    }
  };
  await Promise.all(Array.from({ length: atOnce }, read));
  const limitsOf = async (kind: 'ip' | 'model', key: string) => {
    const query = new URLSearchParams({ kind, key });
    const data = (await adminData(ask, `/api/admin/ratelimit/usage?${query}`, adminToken)) as {
      limits: { rpm: number | null; tpm: number | null };
    };
    return { rpm: data.limits.rpm ?? 0, tpm: data.limits.tpm ?? 0 };
  };
  // Any address: they all have the same limit.
  const ip = await limitsOf('ip', '127.0.0.1');
  return { tokens: found, ip_rpm: ip.rpm, model: model === null ? null : await limitsOf('model', model) };
}

const storeLine = /^gateway_ratelimit_store_total\{[^}]*result="(timeout|error|open)"[^}]*\} (\S+)$/gm;

/** How many checks the gateway has let through without its store since it was started; null where it does not tell. */
export async function readUnchecked(ask: Ask): Promise<number | null> {
  try {
    const { status, body } = await ask('GET', '/metrics');
    if (status !== 200 || !body.includes('gateway_ratelimit_store_total')) return null;
    return [...body.matchAll(storeLine)].reduce((sum, [, , count]) => sum + Number(count), 0);
  } catch {
    return null;
  }
}
