import { discard, toParts } from '../response-parts.ts';
import { aborted, type UwsRequest, WAITING } from './request.ts';
import { answer, fault } from './response.ts';
import { release } from './send.ts';

/** Runs the application. Call it in the uWS callback or a cork. */
export const run = (request: UwsRequest, watched: boolean): void => {
  const server = request._server;
  let result: Response | Promise<Response>;
  try {
    result = server.fetch(request as unknown as Request);
  } catch {
    fault(request, 500, server.closing);
    return;
  }
  const res = request._res;
  if (typeof (result as Promise<Response>)?.then !== 'function') {
    answer(request, result as Response);
    if (request._state === WAITING && !watched) res.onAborted(() => aborted(request));
    return;
  }
  if (!watched) res.onAborted(() => aborted(request));
  (result as Promise<Response>).then(
    (response) => {
      if (request._state !== WAITING) {
        release(request);
        try {
          discard(toParts(response).body);
        } catch {
          // The result is not a response, and the client is gone.
        }
      } else res.cork(() => answer(request, response));
    },
    () => {
      if (request._state !== WAITING) release(request);
      else res.cork(() => fault(request, 500, server.closing));
    },
  );
};

/**
 * Runs the application after uWS has read all bytes that it has received. Until the answer, uWS closes a connection on
 * which further bytes arrive. If such bytes are there already, it closes the connection and the application does not
 * run.
 */
export const runLast = (request: UwsRequest): void => {
  const res = request._res;
  request._last = true;
  res.onAborted(() => aborted(request));
  request._onAbort = () => release(request);
  setImmediate(() => {
    if (request._state !== WAITING) return;
    request._onAbort = null;
    res.cork(() => run(request, true));
  });
};
