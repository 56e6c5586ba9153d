import type { RecognizedString } from 'uWebSockets.js';
import { abortError, DONE, type UwsRequest, WAITING } from './request.ts';

const EMPTY = new Uint8Array(0);
const PIECE = 64 * 1024;
/** Bytes kept back from a streamed chunk: each one written makes uWS try its buffer again. */
const RESERVE = 32;

/** The response is complete, or never will be. */
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

/** Cuts the connection: the only way to say that a response which has begun is not complete. */
const cut = (request: UwsRequest): void => {
  if (request._state === WAITING) request._res.close();
};

/**
 * tryEnd, unlike end, keeps nothing for a client that does not read: the response stays unfinished, and one that goes on
 * sending requests is closed. (With end, 200,000 pipelined requests for 2 kB took 400 MB.)
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

/** A stream whose length the application declared. More or fewer bytes than that cut the connection. */
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
      // Not corked: only then does tryEnd tell what has reached the kernel.
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
 * A stream of unknown length, chunked. The next chunk is pulled when uWS has handed everything to the kernel. Once a
 * client has been slow, a few bytes of each chunk are kept back and written one by one while it catches up, because
 * with an `onWritable` handler nothing but a write empties uWS's buffer.
 */
export const sendChunked = (request: UwsRequest, reader: Reader): void => {
  const res = request._res;
  let chunk: Uint8Array = EMPTY;
  let position = 0;
  /** Where the bytes begin that are kept back. */
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

  /** `blocked`: the last write did not fit, so take small steps until one does. */
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

  /** Each in a cork of its own, as uWS complains on stderr about any other: it then tells what became of the one before. */
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
        // Not with `close`: uWS would write the header into the body, which has said it at its head.
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
      // A corked write always seems to fit: good enough until the client has been slow, then the truth matters.
      if (slow) flush(false);
      else res.cork(() => flush(false));
    }, fail);
  };
  pull();
};
