import { arrivingBodies } from '../body-stream.ts';
import { CHUNKED } from '../framing.ts';
import { IncomingBody } from '../incoming-body.ts';
import { aborted, ENDING, type UwsRequest, WAITING } from './request.ts';
import { fault } from './response.ts';
import { run } from './run.ts';

/**
 * Runs the application at once. It reads the body while it arrives. An answer before the end of the body closes the
 * connection (`response.ts`): uWS would take the rest of the body for part of this request, and the client may never send
 * it.
 */
export const streamBody = (request: UwsRequest, declared: number, limit: number): void => {
  const server = request._server;
  const res = request._res;
  const isOpen = (): boolean => request._state === WAITING || request._state === ENDING;
  let reads = true;
  let isPaused = false;
  /** Waits for its turn to be read again. */
  let queued = false;
  let endTurn: (() => void) | null = null;
  const body: IncomingBody = new IncomingBody({
    budget: server.budget,
    type: request.headers.get('content-type') ?? '',
    ...{ declared, limit, timeoutMs: server.bodyTimeoutMs },
    flow: {
      pause() {
        reads = false;
        // Calls for the rest of the burst follow at once.
        if (endTurn !== null) setImmediate(endTurn);
        endTurn = null;
        if (!isOpen()) return;
        isPaused = true;
        res.pause();
      },
      resume(holds) {
        reads = true;
        if (!holds) {
          if (isPaused && isOpen()) res.resume();
          isPaused = false;
          return;
        }
        queued = true;
        server.readTurns(body.remaining, (end) => {
          queued = false;
          if (!reads || !isPaused || !isOpen()) {
            end();
            return;
          }
          endTurn = end;
          isPaused = false;
          body.restart();
          res.resume();
        });
      },
      isQueued: () => queued,
      keepAlive() {
        if (!isOpen()) return;
        res.pause();
        res.resume();
      },
    },
  });
  request._upload = body;
  // The chunk parser of uWS is lenient (see uws-transport.ts): its end of the body may be wrong.
  if (declared === CHUNKED) request._last = true;
  res.onAborted(() => aborted(request));
  request._onAbort = () => body.fail('aborted');
  res.onData((data, last) => {
    body.receive(new Uint8Array(data));
    if (!last) return;
    // When bytes follow a request that is the last of its connection, uWS closes the connection before this runs.
    if (request._last && request._state === WAITING) setImmediate(() => body.end());
    else body.end();
  });
  const status = body.check();
  if (status !== 0) {
    fault(request, status, true, limit);
    return;
  }
  arrivingBodies.set(request as unknown as Request, body);
  run(request, true);
};
