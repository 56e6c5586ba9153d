import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeRequest } from 'srvx/node';
import { discard, toParts } from '../response-parts.ts';
import type { NodeServer } from './node-server.ts';
import { fault } from './refuse.ts';
import { respond } from './respond.ts';

/** Calls the application and sends its response. A handler that throws is answered with 500. */
export const run = (server: NodeServer, req: IncomingMessage, res: ServerResponse): void => {
  const request = new NodeRequest({ req, res });
  request.waitUntil = (promise: Promise<unknown>) => {
    server.background++;
    const settled = () => {
      server.background--;
      server.onIdle?.();
    };
    Promise.resolve(promise).then(settled, settled);
  };
  const fail = (): void => fault(server, res, 500, server.closing);
  const send = (response: Response): void => {
    if (res.destroyed) discard(toParts(response).body);
    else respond(server, res, response);
  };
  try {
    const result = server.fetch(request as Request);
    if (typeof (result as Promise<Response>)?.then === 'function') (result as Promise<Response>).then(send).catch(fail);
    else send(result as Response);
  } catch {
    fail();
  }
};
