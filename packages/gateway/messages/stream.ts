import { errorBody, type ProxyError, proxyErrors } from './openai-errors.ts';

/** What a client that reads slowly may have us keep before the upstream is held up. */
const keptBytes = 64 * 1024;

/** How a stream ended: by itself, by the client, by the upstream's connection or by its silence. */
export type StreamEnd = 'done' | 'cancelled' | 'reset' | 'idle';

/** The upstream's side of a running answer. */
export type Flow = { pause(): void; resume(): void; abort(): void };

export type PassThrough = {
  readonly readable: ReadableStream<Uint8Array>;
  push(chunk: Uint8Array): void;
  end(): void;
  /** The client has gone. */
  cancel(): void;
  /** Says so within the stream, as its status has been sent long since, and ends it. */
  fail(end: 'reset' | 'idle'): void;
};

const lineEnd = 0x0a;
const faults: Readonly<Record<'reset' | 'idle', () => ProxyError>> = {
  reset: proxyErrors.upstream_error,
  idle: proxyErrors.upstream_timeout,
};

/**
 * Bytes of an event stream on their way to the client. What was read goes to whoever reads at once; the upstream is held up only
 * when the client does not take what is there. `onEnd` is told once.
 */
export function openPassThrough(flow: Flow, onEnd: (end: StreamEnd) => void): PassThrough {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let paused = false;
  let ended = false;
  /** The last two bytes sent: whether an event is unfinished. */
  let last = lineEnd;
  let beforeLast = lineEnd;
  /** Chunks that came with one read of the upstream's socket: they leave with one write. */
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
    { highWaterMark: keptBytes, size: (chunk) => chunk.byteLength },
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
      // Before anything else happens: nothing waits.
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
      const fresh = last === lineEnd && beforeLast === lineEnd;
      controller.enqueue(Buffer.from(`${fresh ? '' : '\n\n'}data: ${errorBody(faults[end]())}\n\n`));
      controller.close();
      finish(end);
    },
  };
}
