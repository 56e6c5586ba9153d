import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeRequest } from 'srvx/node';
import { arrivingBodies } from '../body-stream.ts';
import type { IncomingBody } from '../incoming-body.ts';
import { discard, toParts } from '../response-parts.ts';
import type { NodeServer } from './node-server.ts';
import { fault, refuseBody } from './refuse.ts';
import { respond } from './respond.ts';

/**
 * Calls the application and sends its response. A handler that throws is answered with 500. `upload` is the body of a
 * streamed route.
 */
export const run = (
  server: NodeServer,
  req: IncomingMessage,
  res: ServerResponse,
  upload: IncomingBody | null = null,
): void => {
  const request = new NodeRequest({ req, res });
  if (upload !== null) arrivingBodies.set(request as Request, upload);
  request.waitUntil = (promise: Promise<unknown>) => {
    server.background++;
    const settled = () => {
      server.background--;
      server.onIdle?.();
    };
    Promise.resolve(promise).then(settled, settled);
  };
  const uploading = (): boolean => upload !== null && !upload.complete;
  const fail = (): void => {
    if (uploading() && !res.headersSent && !res.destroyed) {
      upload!.release();
      refuseBody(server, req, res, 500, 0);
    } else fault(server, res, 500, server.closing);
  };
  const send = (response: Response): void => {
    if (res.destroyed) discard(toParts(response).body);
    else respond(server, res, response, uploading() ? upload : null);
  };
  try {
    const result = server.fetch(request as Request);
    if (typeof (result as Promise<Response>)?.then === 'function') (result as Promise<Response>).then(send).catch(fail);
    else send(result as Response);
  } catch {
    fail();
  }
};
