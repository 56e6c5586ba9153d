import { faultCode } from '@tradepost/runtime';
import type { Dispatcher } from 'undici';
import { openPassThrough, type PassThrough, type StreamEnd } from '../messages/stream.ts';
import type { Upstream } from './connect-upstream.ts';
import type { Redactor } from './redact.ts';

/** An answer that comes as a whole is kept until it is complete, up to this. */
const largestAnswer = 64 * 1024 * 1024;

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;
type Fault = 'connect' | 'timeout' | 'reset' | 'too_large' | 'cancelled';

export type Outcome =
  | { kind: 'whole'; status: number; headers: AnswerHeaders; body: Buffer }
  | { kind: 'stream'; status: number; headers: AnswerHeaders; readable: ReadableStream<Uint8Array> }
  | { kind: 'fault'; fault: Fault; code: string; stale: boolean };

/** The wish of whoever asked that it should end; one attempt at a time listens. */
export type Cancel = { cancelled: boolean; onCancel: (() => void) | null };
export const cancelNow = (cancel: Cancel): void => {
  if (cancel.cancelled) return;
  cancel.cancelled = true;
  cancel.onCancel?.();
};

export type Asked = {
  readonly method: 'GET' | 'POST';
  /** Below the base URL. */
  readonly path: string;
  /** Name, value, ...: what the client's request adds. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | null;
  /** The client asked for a stream. */
  readonly stream: boolean;
  /** Removes the keys of upstreams from what this one answers. */
  readonly redactor: Redactor;
  /** Sees the bytes of a streamed answer after they were passed on. */
  readonly onChunk?: (chunk: Uint8Array) => void;
  /** A streamed answer has ended, however. */
  readonly onStreamEnd?: (end: StreamEnd) => void;
};

const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

/** Nothing of the request has left us. */
const isUnreachable = (code: string) =>
  unreachable.has(code) || code === 'UND_ERR_CONNECT_TIMEOUT' || /CERT|TLS|SSL/.test(code);

function isStream(status: number, type: string, wanted: boolean): boolean {
  if (status < 200 || status > 299) return false;
  return type.startsWith('text/event-stream') || (wanted && !type.startsWith('application/json'));
}

/** One request to one upstream. Never rejects for what the upstream, the network or the client does. */
export function askUpstream(upstream: Upstream, asked: Asked, cancel: Cancel): Promise<Outcome> {
  return new Promise((resolve) => {
    const { first_byte_timeout_ms: firstByteMs, idle_timeout_ms: idleMs } = upstream.config;
    let controller: Dispatcher.DispatchController | null = null;
    let settled = false;
    let status = 0;
    let headers: AnswerHeaders = {};
    let through: PassThrough | null = null;
    const redacted = asked.redactor.stream();
    const chunks: Uint8Array[] = [];
    let size = 0;
    let timer: NodeJS.Timeout | null = setTimeout(late, firstByteMs);
    /** Whether the timer is already the one between two chunks. */
    let flowing = false;
    /** By a client that does not read. */
    let held = false;

    function stopTimer(): void {
      if (timer) clearTimeout(timer);
      timer = null;
    }
    function done(outcome: Outcome): void {
      if (settled) return;
      settled = true;
      resolve(outcome);
    }
    function ended(): void {
      stopTimer();
      cancel.onCancel = null;
    }
    function giveUp(fault: Fault, code: string = fault, stale = false): void {
      ended();
      done({ kind: 'fault', fault, code, stale });
      controller?.abort(new Error(fault));
    }
    function late(): void {
      if (through) {
        ended();
        through.fail('idle');
        controller?.abort(new Error('idle'));
      } else giveUp('timeout');
    }
    function waitForMore(): void {
      if (flowing && timer) timer.refresh();
      else {
        stopTimer();
        flowing = true;
        timer = setTimeout(late, idleMs);
      }
    }

    cancel.onCancel = () => {
      if (!through) giveUp('cancelled');
      else through.cancel();
    };
    if (cancel.cancelled) return giveUp('cancelled');

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given;
        // Given up while it waited for a connection.
        if (settled) given.abort(new Error('given up'));
      },
      onResponseStart(_controller, statusCode, given) {
        if (statusCode < 200 || settled) return;
        status = statusCode;
        headers = given;
        if (!isStream(status, String(given['content-type'] ?? ''), asked.stream)) return;
        const flow = {
          // Silence of our own making is none of the upstream's.
          pause() {
            held = true;
            controller?.pause();
            stopTimer();
          },
          resume() {
            held = false;
            waitForMore();
            controller?.resume();
          },
          abort() {
            ended();
            controller?.abort(new Error('cancelled'));
          },
        };
        through = openPassThrough(flow, (end) => asked.onStreamEnd?.(end));
        done({ kind: 'stream', status, headers, readable: through.readable });
      },
      onResponseData(_controller, chunk) {
        if (through) {
          // One more can be on its way when it is held up.
          if (!held) waitForMore();
          const clean = redacted.push(chunk);
          through.push(clean);
          asked.onChunk?.(clean);
          return;
        }
        if (settled) return;
        waitForMore();
        const clean = redacted.push(chunk);
        size += clean.byteLength;
        if (size > largestAnswer) giveUp('too_large');
        else if (clean.byteLength > 0) chunks.push(clean);
      },
      onResponseEnd() {
        ended();
        const rest = redacted.end();
        if (through) {
          through.push(rest);
          asked.onChunk?.(rest);
          return through.end();
        }
        if (rest.byteLength > 0) chunks.push(rest);
        const body = chunks.length === 1 ? bufferOf(chunks[0]!) : Buffer.concat(chunks);
        done({ kind: 'whole', status, headers, body });
      },
      onResponseError(_controller, error) {
        if (through) {
          ended();
          return through.fail('reset');
        }
        if (settled) return;
        const code = faultCode(error) || error.name;
        if (isUnreachable(code)) giveUp('connect', code);
        else giveUp('reset', code, status === 0 && upstream.wasStale(error));
      },
    };
    const { pool, origin, prefix } = upstream;
    try {
      pool.dispatch(
        {
          origin,
          path: `${prefix}/${asked.path}`,
          method: asked.method,
          headers: [...upstream.headers, ...asked.headers],
          body: asked.body,
        },
        handler,
      );
    } catch (error) {
      giveUp('connect', faultCode(error) || (error as Error).name);
    }
  });
}
