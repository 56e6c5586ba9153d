import { beginCall, faultCode, type Span, traceHeaders, traceparentOf } from '@tradepost/runtime';
import type { Dispatcher } from 'undici';
import { type Flow, openPassThrough, type PassThrough, type StreamEnd } from '../messages/stream.ts';
import type { Upstream } from './connect-upstream.ts';
import type { RedactedStream, Redactor } from './redact.ts';

/** Largest answer that is not streamed. It is buffered until it is complete. */
const maxAnswer = 64 * 1024 * 1024;

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;
type Fault = 'connect' | 'timeout' | 'reset' | 'too_large' | 'cancelled';

export type Outcome =
  | { kind: 'whole'; status: number; headers: AnswerHeaders; body: Buffer }
  | { kind: 'stream'; status: number; headers: AnswerHeaders; readable: ReadableStream<Uint8Array> }
  | { kind: 'fault'; fault: Fault; code: string; stale: boolean };

/** Cancels a request. One attempt at a time sets `onCancel`. */
export type Cancel = { cancelled: boolean; onCancel: (() => void) | null };
export const cancelNow = (cancel: Cancel): void => {
  if (cancel.cancelled) return;
  cancel.cancelled = true;
  cancel.onCancel?.();
};

export type UpstreamRequest = {
  readonly method: 'GET' | 'POST';
  /** Path below the base URL. */
  readonly path: string;
  /** Name, value, name, value: headers that this request adds. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | null;
  /** The client asked for a stream. */
  readonly stream: boolean;
  /** Removes keys of upstreams from the answer. */
  readonly redactor: Redactor;
  /** Called with the bytes of a streamed answer after they were relayed. */
  readonly onChunk?: (chunk: Uint8Array) => void;
  /** Called once when a streamed answer has ended. */
  readonly onStreamEnd?: (end: StreamEnd) => void;
};

const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

/** The upstream has received nothing of the request. */
const isUnreachable = (code: string) =>
  unreachable.has(code) || code === 'UND_ERR_CONNECT_TIMEOUT' || /CERT|TLS|SSL/.test(code);

function isStream(status: number, type: string, isRequested: boolean): boolean {
  if (status < 200 || status > 299) return false;
  return type.startsWith('text/event-stream') || (isRequested && !type.startsWith('application/json'));
}

/**
 * One request to one upstream. It handles the answer and controls the flow of a streamed answer. `resolve` is called with the
 * outcome: a complete answer, an answer whose stream has begun, or a fault.
 */
class Attempt implements Dispatcher.DispatchHandler, Flow {
  readonly #upstream: Upstream;
  readonly #request: UpstreamRequest;
  readonly #cancel: Cancel;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #redacted: RedactedStream;
  readonly #chunks: Uint8Array[] = [];
  readonly #onLate = (): void => this.#late();
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #status = 0;
  #headers: AnswerHeaders = {};
  #through: PassThrough | null = null;
  #size = 0;
  #timer: NodeJS.Timeout | null;
  /**
   * Whether the stream has begun. The timer then limits the time between two chunks, before that the time to the first
   * byte.
   */
  #flowing = false;
  /** The client does not read, so the upstream is not read either. */
  #paused = false;
  /** Ends with the answer, also with that of a stream. Null when it is not recorded, or has ended. */
  #span: Span | null;

  constructor(upstream: Upstream, request: UpstreamRequest, cancel: Cancel, resolve: (outcome: Outcome) => void) {
    this.#upstream = upstream;
    this.#request = request;
    this.#cancel = cancel;
    this.#resolve = resolve;
    this.#redacted = request.redactor.stream();
    this.#span = beginCall(upstream.calls[request.method]);
    this.#timer = setTimeout(this.#onLate, upstream.config.first_byte_timeout_ms);
  }

  start(): void {
    const cancel = this.#cancel;
    cancel.onCancel = () => {
      if (!this.#through) this.#giveUp('cancelled');
      else this.#through.cancel();
    };
    if (cancel.cancelled) {
      this.#giveUp('cancelled');
      return;
    }
    const { pool, origin, prefix, headers } = this.#upstream;
    const request = this.#request;
    const { traceparent } = this.#span ? { traceparent: traceparentOf(this.#span) } : traceHeaders();
    try {
      pool.dispatch(
        {
          origin,
          path: `${prefix}/${request.path}`,
          method: request.method,
          headers: [...headers, ...request.headers, 'traceparent', traceparent],
          body: request.body,
        },
        this,
      );
    } catch (error) {
      this.#giveUp('connect', faultCode(error) || (error as Error).name);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The attempt ended while it waited for a connection.
    if (this.#settled) controller.abort(new Error('given up'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    if (status < 200 || this.#settled) return;
    this.#status = status;
    this.#headers = headers;
    this.#span?.set(this.#upstream.calls[this.#request.method].ofResult!({ statusCode: status }));
    if (!isStream(status, String(headers['content-type'] ?? ''), this.#request.stream)) return;
    this.#through = openPassThrough(this, (end) => this.#request.onStreamEnd?.(end));
    this.#done({ kind: 'stream', status, headers, readable: this.#through.readable });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#through) {
      // One more chunk can arrive after the pause.
      if (!this.#paused) this.#waitForMore();
      const clean = this.#redacted.push(chunk);
      this.#through.push(clean);
      this.#request.onChunk?.(clean);
      return;
    }
    if (this.#settled) return;
    this.#waitForMore();
    const clean = this.#redacted.push(chunk);
    this.#size += clean.byteLength;
    if (this.#size > maxAnswer) this.#giveUp('too_large');
    else if (clean.byteLength > 0) this.#chunks.push(clean);
  }

  onResponseEnd(): void {
    this.#ended();
    const rest = this.#redacted.end();
    if (this.#through) {
      this.#through.push(rest);
      this.#request.onChunk?.(rest);
      this.#through.end();
      return;
    }
    const chunks = this.#chunks;
    if (rest.byteLength > 0) chunks.push(rest);
    const body = chunks.length === 1 ? bufferOf(chunks[0]!) : Buffer.concat(chunks);
    this.#done({ kind: 'whole', status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#through) {
      this.#ended('reset');
      this.#through.fail('reset');
      return;
    }
    if (this.#settled) return;
    const code = faultCode(error) || error.name;
    if (isUnreachable(code)) this.#giveUp('connect', code);
    else this.#giveUp('reset', code, this.#status === 0 && this.#upstream.wasStale(error));
  }

  /** Stops reading. The idle time-out does not run while the gateway itself pauses the stream. */
  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
    this.#stopTimer();
  }

  resume(): void {
    this.#paused = false;
    this.#waitForMore();
    this.#controller?.resume();
  }

  abort(): void {
    this.#ended('cancelled');
    this.#controller?.abort(new Error('cancelled'));
  }

  #waitForMore(): void {
    if (this.#flowing && this.#timer) this.#timer.refresh();
    else {
      this.#stopTimer();
      this.#flowing = true;
      this.#timer = setTimeout(this.#onLate, this.#upstream.config.idle_timeout_ms);
    }
  }

  #late(): void {
    if (this.#through) {
      this.#ended('idle');
      this.#through.fail('idle');
      this.#controller?.abort(new Error('idle'));
    } else this.#giveUp('timeout');
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #ended(fault: Fault | 'idle' | null = null): void {
    this.#stopTimer();
    this.#cancel.onCancel = null;
    if (fault !== null) this.#span?.set({ 'error.type': fault });
    this.#span?.end();
    this.#span = null;
  }

  #giveUp(fault: Fault, code: string = fault, stale = false): void {
    this.#ended(fault);
    this.#done({ kind: 'fault', fault, code, stale });
    this.#controller?.abort(new Error(fault));
  }

  #done(outcome: Outcome): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#resolve(outcome);
  }
}

/** Sends one request to one upstream. Faults of the upstream, the network or the client are outcomes, not rejections. */
export function sendToUpstream(upstream: Upstream, request: UpstreamRequest, cancel: Cancel): Promise<Outcome> {
  return new Promise((resolve) => {
    new Attempt(upstream, request, cancel, resolve).start();
  });
}
