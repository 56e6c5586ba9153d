import { BodyBuffer } from '../body-budget.ts';
import { CHUNKED } from '../framing.ts';
import { LINGER_MS } from '../transport.ts';
import { aborted, type UwsRequest, WAITING } from './request.ts';
import { fault } from './response.ts';
import { run, runLast } from './run.ts';
import { release } from './send.ts';

/** Shorter than the time after which uWS may cut a slow body. */
const KEEP_BODY_MS = 4000;

/**
 * Collects the body, then runs the application. Faults of the body do not reach the application, and it may read the
 * body at any time. The bytes of uWS are valid only during the callback, so they are copied.
 */
export const collect = (request: UwsRequest, declared: number): void => {
  const server = request._server;
  const res = request._res;
  const deadline = performance.now() + server.bodyTimeoutMs;
  const buffer = new BodyBuffer(server.budget, {
    most: server.maxBodyBytes,
    limitOf: () => server.bodyLimitOf?.(request.method, request._path) ?? server.maxBodyBytes,
    declared,
  });
  /** The status of the refusal, or 0. */
  let refused = 0;
  let timer: NodeJS.Timeout | undefined;

  const endRefused = (): void => {
    if (request._state === WAITING) res.cork(() => fault(request, refused, true, buffer.limit));
  };
  /**
   * The answer waits until the upload has been read and discarded, or until LINGER_MS has passed. Earlier, the client
   * could see a reset.
   */
  const refuse = (status: number): void => {
    refused = status;
    clearTimeout(timer);
    timer = setTimeout(endRefused, LINGER_MS);
  };
  const tick = (): void => {
    if (request._state !== WAITING) return;
    const left = deadline - performance.now();
    if (left <= 0) {
      buffer.drop();
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
    buffer.drop();
    release(request);
  };
  res.onData((data, last) => {
    if (request._state !== WAITING) return;
    if (refused === 0) {
      const status = buffer.add(new Uint8Array(data));
      if (status !== 0) refuse(status);
    }
    if (!last) return;
    clearTimeout(timer);
    if (refused !== 0) {
      endRefused();
      return;
    }
    request._onAbort = null;
    request._body = buffer.bytes();
    request._held = buffer.held;
    // The chunk parser of uWS is lenient (see uws-transport.ts): its end of the body may be wrong.
    if (declared === CHUNKED || request._last) runLast(request);
    else run(request, true);
  });
  const status = buffer.check(Math.max(0, declared));
  if (status !== 0) refuse(status);
  else timer = setTimeout(tick, Math.min(server.bodyTimeoutMs, KEEP_BODY_MS));
};
