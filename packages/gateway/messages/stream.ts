import { errorBody, type ProxyError, proxyErrors } from './openai-errors.ts';

/** Bytes that are buffered for a slow client before the upstream is paused. */
const bufferedBytes = 64 * 1024;

/** How a stream ended: complete, cancelled by the client, connection of the upstream lost, or upstream silent. */
export type StreamEnd = 'done' | 'cancelled' | 'reset' | 'idle';

/** The upstream's side of a running answer. */
export type Flow = { pause(): void; resume(): void; abort(): void };

export type PassThrough = {
  readonly readable: ReadableStream<Uint8Array>;
  push(chunk: Uint8Array): void;
  end(): void;
  /** The client has disconnected. */
  cancel(): void;
  /** Ends the stream with an error event, because the status of the answer was sent before. */
  fail(end: 'reset' | 'idle'): void;
};

const lineEnd = 0x0a;
const faults: Readonly<Record<'reset' | 'idle', () => ProxyError>> = {
  reset: proxyErrors.upstream_error,
  idle: proxyErrors.upstream_timeout,
};

/**
 * Passes the bytes of an event stream to the client as they arrive. The upstream is paused only when the client does not read.
 * `onEnd` is called once.
 */
export function openPassThrough(flow: Flow, onEnd: (end: StreamEnd) => void): PassThrough {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let paused = false;
  let ended = false;
  /** The last two bytes that were sent. They show whether an event is complete. */
  let last = lineEnd;
  let beforeLast = lineEnd;
  /** The chunks that arrived with one read of the upstream's socket. They are sent with one write. */
  let gathered: Uint8Array[] = [];
  const flush = (): void => {
    if (gathered.length === 0) return;
    const chunk = gathered.length === 1 ? gathered[0]! : Buffer.concat(gathered);
    gathered = [];
    if (ended) return;
    controller.enqueue(chunk);
    if (paused || controller.desiredSize! > 0) return;
    paused = true;
    flow.pause();
  };
  const finish = (end: StreamEnd): void => {
    if (ended) return;
    ended = true;
    onEnd(end);
  };
  const cancel = (): void => {
    if (ended) return;
    finish('cancelled');
    flow.abort();
  };
  const readable = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull() {
        if (!paused || ended) return;
        paused = false;
        flow.resume();
      },
      cancel,
    },
    { highWaterMark: bufferedBytes, size: (chunk) => chunk.byteLength },
  );
  return {
    readable,
    cancel() {
      if (ended) return;
      controller.close();
      cancel();
    },
    push(chunk) {
      if (ended || chunk.byteLength === 0) return;
      beforeLast = chunk.byteLength > 1 ? chunk[chunk.byteLength - 2]! : last;
      last = chunk[chunk.byteLength - 1]!;
      gathered.push(chunk);
      // A microtask runs before other events, so the chunk is not delayed.
      if (gathered.length === 1) queueMicrotask(flush);
    },
    end() {
      if (ended) return;
      flush();
      controller.close();
      finish('done');
    },
    fail(end) {
      if (ended) return;
      flush();
      const isEventComplete = last === lineEnd && beforeLast === lineEnd;
      controller.enqueue(Buffer.from(`${isEventComplete ? '' : '\n\n'}data: ${errorBody(faults[end]())}\n\n`));
      controller.close();
      finish(end);
    },
  };
}
