import { Agent, request } from 'node:http';
import { attackerAddress } from './sockets.ts';

export type Reply = {
  /** 0 when the connection broke or no answer came within the limit; `text` has the reason. */
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  bytes: number;
  ms: number;
  /** Code of the envelope; -1 when the answer has no envelope. */
  code: number;
};

export type Asked = {
  method?: string;
  token?: string | undefined;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent unchanged, with the content type JSON unless the headers set another. */
  body?: string | Uint8Array;
  headers?: Record<string, string | string[]>;
  limitMs?: number;
};

export type Attacker = {
  ask(url: string, path: string, asked?: Asked): Promise<Reply>;
  close(): void;
};

const codeOf = (text: string): number => {
  const found = /^\{"code":(\d+),/.exec(text);
  return found ? Number(found[1]) : -1;
};

/** An HTTP client with its own source address. Paths and header values are sent unchanged. */
export function openAttacker(options: { from?: string; sockets?: number } = {}): Attacker {
  const { from = attackerAddress, sockets = 64 } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: sockets, localAddress: from });
  return {
    ask: (url, path, { method, token, json, body, headers = {}, limitMs = 30_000 } = {}) =>
      new Promise((resolve) => {
        const begun = performance.now();
        const sent = json === undefined ? body : JSON.stringify(json);
        let done = false;
        const reply = (status: number, text: string, of: Reply['headers'] = {}, bytes = text.length) => {
          if (done) return;
          done = true;
          clearTimeout(timer);
          resolve({ status, headers: of, text, bytes, ms: performance.now() - begun, code: codeOf(text) });
        };
        const outgoing = request(url, {
          path,
          agent,
          method: method ?? (sent === undefined ? 'GET' : 'POST'),
          headers: {
            ...(sent === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...headers,
          },
        });
        const timer = setTimeout(() => {
          reply(0, `no answer within ${limitMs} ms`);
          outgoing.destroy();
        }, limitMs);
        outgoing.on('response', (response) => {
          const parts: Buffer[] = [];
          const end = () => {
            const bytes = Buffer.concat(parts);
            reply(response.statusCode ?? 0, bytes.toString('utf8'), response.headers, bytes.length);
          };
          response.on('data', (part: Buffer) => parts.push(part));
          // A refused upload may be cut after its answer.
          response.on('end', end).on('error', end).on('close', end);
        });
        outgoing.on('error', (error: NodeJS.ErrnoException) => {
          // The answer of a refused upload may still arrive.
          setTimeout(() => reply(0, error.code ?? error.message), 200);
        });
        outgoing.end(sent);
      }),
    close: () => agent.destroy(),
  };
}

/** Checks an answer to an attack. Returns the fault, or null. */
export function faultOfReply({ status, headers, text }: Reply): string | null {
  if (status === 0) return `no answer (${text})`;
  if (status === 503) return headers['retry-after'] === undefined ? '503 without Retry-After' : null;
  return status >= 500 ? `HTTP ${status} ${text.slice(0, 200)}` : null;
}
