import { discard, toParts } from './response-parts.ts';
import { ABORTED, abortError, type UwsRequest, WAITING } from './uws-request.ts';
import { answer, fault } from './uws-response.ts';
import { release } from './uws-send.ts';

export const aborted = (request: UwsRequest): void => {
  request._state = ABORTED;
  request._controller?.abort(abortError());
  const onAbort = request._onAbort;
  request._onAbort = null;
  onAbort?.();
};

/** Runs the application; inside the uWS callback. */
export const run = (request: UwsRequest, watched: boolean): void => {
  const server = request._server;
  let result: Response | Promise<Response>;
  try {
    result = server.fetch(request as unknown as Request);
  } catch {
    request._req = null;
    fault(request, 500, server.closing);
    return;
  }
  const res = request._res;
  if (typeof (result as Promise<Response>)?.then !== 'function') {
    answer(request, result as Response);
    if (request._state === WAITING) {
      request._copied();
      if (!watched) res.onAborted(() => aborted(request));
    }
    request._req = null;
    return;
  }
  // After this callback uWS's request is gone, so what the application may still ask for is copied now.
  request._copied();
  request._req = null;
  if (!watched) res.onAborted(() => aborted(request));
  (result as Promise<Response>).then(
    (response) => {
      if (request._state !== WAITING) {
        release(request);
        try {
          discard(toParts(response).body);
        } catch {
          // Not a response; nobody is left to be told.
        }
      } else res.cork(() => answer(request, response));
    },
    () => {
      if (request._state !== WAITING) release(request);
      else res.cork(() => fault(request, 500, server.closing));
    },
  );
};
