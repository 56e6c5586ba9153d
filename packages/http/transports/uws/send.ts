import type { RecognizedString } from 'uWebSockets.js';
import { abortError, DONE, type UwsRequest, WAITING } from './request.ts';

const EMPTY = new Uint8Array(0);
const PIECE = 64 * 1024;
/** Bytes of a streamed chunk that are written one by one. Each write makes uWS try its buffer again. */
const RESERVE = 32;

/** Records that the response is complete or will never be. */
export const release = (request: UwsRequest): void => {
  const server = request._server;
  request._letGo();
  server.active--;
  if (server.onIdle !== undefined) server.onIdle();
};

export const done = (request: UwsRequest): void => {
  request._state = DONE;
  release(request);
};

/** Cuts the connection. No other signal shows the client that a started response is incomplete. */
const cut = (request: UwsRequest): void => {
  if (request._state === WAITING) request._res.close();
};

/**
 * Sends with `tryEnd`. Unlike `end` it buffers nothing for a client that does not read: the response stays unfinished,
 * and a client that continues to send requests is disconnected. With `end`, 200,000 pipelined requests for 2 kB took
 * 400 MB.
 */
export const sendBytes = (request: UwsRequest, body: string | Uint8Array): void => {
  const res = request._res;
  const total = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (res.tryEnd(body as RecognizedString, total)[1]) {
    done(request);
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  request._onAbort = () => release(request);
  res.onWritable((offset) => {
    if (request._state !== WAITING) return true;
    const [ok, finished] = res.tryEnd(bytes.subarray(offset) as RecognizedString, total);
    if (finished) done(request);
    return ok;
  });
};

type Reader = ReadableStreamDefaultReader<Uint8Array>;

const cancelOnAbort = (request: UwsRequest, reader: Reader): void => {
  request._onAbort = () => {
    reader.cancel(abortError()).catch(() => {});
    release(request);
  };
};

/** Sends a stream of a length that the application declared. A stream of another length cuts the connection. */
export const sendSized = (request: UwsRequest, reader: Reader, total: number): void => {
  const res = request._res;
  let rest: Uint8Array | null = null;
  let restStart = 0;
  let sent = 0;
  cancelOnAbort(request, reader);
  const fail = (): void => {
    if (request._state !== WAITING) return;
    cut(request);
  };
  const push = (chunk: Uint8Array): boolean => {
    const [ok, finished] = res.tryEnd(chunk, total);
    if (finished) {
      reader.cancel().catch(() => {});
      done(request);
    }
    return ok;
  };
  const pull = (): void => {
    reader.read().then(({ done: ended, value }) => {
      if (request._state !== WAITING) return;
      if (ended) {
        if (total > 0) return fail();
        res.cork(() => res.end(''));
        return done(request);
      }
      if (!(value instanceof Uint8Array) || sent + value.byteLength > total) {
        reader.cancel().catch(() => {});
        return fail();
      }
      if (value.byteLength === 0) return pull();
      restStart = sent;
      sent += value.byteLength;
      // Not corked: only then does `tryEnd` report the bytes that reached the kernel.
      const ok = push(value);
      if (request._state !== WAITING) return;
      if (ok) pull();
      else rest = value;
    }, fail);
  };
  res.onWritable((offset) => {
    if (request._state !== WAITING || rest === null) return true;
    const ok = push(rest.subarray(offset - restStart));
    if (ok) {
      rest = null;
      if (request._state === WAITING) pull();
    }
    return ok;
  });
  pull();
};

/**
 * Sends a stream of unknown length, chunked. The next chunk is read when uWS has passed everything to the kernel. For a
 * client that has been slow, the last bytes of each chunk are written one by one while it catches up. With an
 * `onWritable` handler only a write empties the buffer of uWS.
 */
export const sendChunked = (request: UwsRequest, reader: Reader): void => {
  const res = request._res;
  let chunk: Uint8Array = EMPTY;
  let position = 0;
  /** The index of the first byte that is written later. */
  let reserve = 0;
  let pressed = false;
  let slow = false;
  let waiting = false;
  cancelOnAbort(request, reader);
  const fail = (): void => cut(request);

  const wait = (): void => {
    waiting = true;
    if (slow) return;
    slow = true;
    res.onWritable(writable);
  };
  const writable = (): boolean => {
    if (!waiting || request._state !== WAITING) return true;
    waiting = false;
    if (position < chunk.byteLength) flush(true);
    else pull();
    return true;
  };

  /** `blocked` is true when the last write did not fit. Then the steps are small until a write fits. */
  const flush = (blocked: boolean): void => {
    let stuck = blocked;
    while (position < chunk.byteLength) {
      const end = position < reserve ? Math.min(position + PIECE, reserve) : stuck ? position + 1 : chunk.byteLength;
      stuck = !(slow ? write(chunk.subarray(position, end)) : res.write(chunk.subarray(position, end)));
      position = end;
      if (stuck && position < chunk.byteLength) break;
    }
    if (stuck && (slow || position < chunk.byteLength)) wait();
    else {
      pressed = stuck;
      pull();
    }
  };

  /**
   * Each write is in a cork of its own, because uWS warns on stderr about writes outside a cork. The call then reports
   * the result of the previous write.
   */
  const write = (piece: Uint8Array): boolean => {
    let fits = true;
    res.cork(() => {
      fits = res.write(piece);
    });
    return fits;
  };

  const pull = (): void => {
    reader.read().then(({ done: ended, value }) => {
      if (request._state !== WAITING) return;
      if (ended) {
        // Without `close`: uWS would write that header into the body. The head has it already.
        res.cork(() => res.end(''));
        return done(request);
      }
      if (!(value instanceof Uint8Array)) {
        reader.cancel().catch(() => {});
        return fail();
      }
      if (pressed && !slow) {
        slow = true;
        res.onWritable(writable);
      }
      chunk = value;
      position = 0;
      reserve = slow ? Math.max(1, value.byteLength - RESERVE) : value.byteLength;
      // A corked write always reports success. That is accurate enough until the client has been slow.
      if (slow) flush(false);
      else res.cork(() => flush(false));
    }, fail);
  };
  pull();
};
