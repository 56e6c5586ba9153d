import { CHUNKED } from './request-framing.ts';
import { LINGER_MS, SMALL_BODY } from './transport.ts';
import { aborted, type UwsRequest, WAITING } from './uws-request.ts';
import { fault } from './uws-response.ts';
import { run, runLast } from './uws-run.ts';
import { release } from './uws-send.ts';

const EMPTY_BUFFER: Buffer = Buffer.alloc(0);
/** Below the shortest time after which uWS may cut a slow body. */
const KEEP_BODY_MS = 4000;

/**
 * Collects the body, then runs the application: faults of the body never reach it, and it may read the body whenever it
 * likes. The bytes uWS hands out are gone after the callback, so they are copied into one growing buffer (one object
 * for each of a million one-byte chunks would be far more than the limit).
 */
export const collect = (request: UwsRequest, declared: number): void => {
  const server = request._server;
  const res = request._res;
  const limit = server.maxBodyBytes;
  const deadline = performance.now() + server.bodyTimeoutMs;
  let buffer: Buffer = EMPTY_BUFFER;
  let used = 0;
  /** The status with which it was. */
  let refused = 0;
  let timer: NodeJS.Timeout | undefined;

  const replace = (other: Buffer): void => {
    server.buffered += other.byteLength - buffer.byteLength;
    buffer = other;
  };
  /** Whether there is no room for a body that grows to this. */
  const isFull = (size: number): boolean =>
    size > SMALL_BODY && server.buffered - buffer.byteLength + size > server.maxBufferedBytes;
  const endRefused = (): void => {
    if (request._state === WAITING) res.cork(() => fault(request, refused, true));
  };
  /** The answer waits until the upload is read (and dropped) or the linger is over: earlier, the client may see a reset. */
  const refuse = (status: number): void => {
    refused = status;
    replace(EMPTY_BUFFER);
    clearTimeout(timer);
    timer = setTimeout(endRefused, LINGER_MS);
  };
  const tick = (): void => {
    if (request._state !== WAITING) return;
    const left = deadline - performance.now();
    if (left <= 0) {
      replace(EMPTY_BUFFER);
      res.cork(() => fault(request, 408, true));
      return;
    }
    res.pause();
    res.resume();
    timer = setTimeout(tick, Math.min(left, KEEP_BODY_MS));
  };

  res.onAborted(() => aborted(request));
  request._onAbort = () => {
    clearTimeout(timer);
    replace(EMPTY_BUFFER);
    release(request);
  };
  res.onData((data, last) => {
    if (request._state !== WAITING) return;
    const size = data.byteLength;
    if (refused === 0 && used + size > limit) refuse(413);
    if (refused === 0 && used + size > buffer.byteLength && isFull(used + size)) refuse(503);
    if (refused !== 0) {
      if (last) {
        clearTimeout(timer);
        endRefused();
      }
      return;
    }
    if (size > 0) {
      if (used + size > buffer.byteLength) {
        const grown = Buffer.allocUnsafe(
          last ? used + size : Math.min(limit, Math.max(2 * buffer.byteLength, used + size, 1024)),
        );
        grown.set(buffer.subarray(0, used));
        replace(grown);
      }
      buffer.set(new Uint8Array(data), used);
      used += size;
    }
    if (!last) return;
    clearTimeout(timer);
    request._onAbort = null;
    request._body = buffer.subarray(0, used);
    replace(EMPTY_BUFFER);
    // uWS's chunk parser is lenient (see uws-transport.ts): what it takes for the end of a body may not be one.
    if (declared === CHUNKED || request._last) runLast(request);
    else run(request, true);
  });
  if (declared > limit) refuse(413);
  else if (isFull(declared)) refuse(503);
  else timer = setTimeout(tick, Math.min(server.bodyTimeoutMs, KEEP_BODY_MS));
};
