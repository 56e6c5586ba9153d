import type { IncomingMessage, ServerResponse } from 'node:http';
import { IncomingBody } from '../incoming-body.ts';
import type { NodeServer } from './node-server.ts';
import { refuseBody } from './refuse.ts';
import { run } from './run.ts';

/** Runs the application at once. It reads the body while it arrives. */
export const streamBody = (server: NodeServer, req: IncomingMessage, res: ServerResponse, limit: number): void => {
  const length = req.headers['content-length'];
  const body = new IncomingBody({
    budget: server.budget,
    type: req.headers['content-type'] ?? '',
    declared: length === undefined ? -1 : Number(length),
    limit,
    timeoutMs: server.bodyTimeoutMs,
    flow: {
      pause: () => req.pause(),
      resume: () => req.resume(),
      isQueued: () => false,
      // The timeouts of node:http do not depend on the progress of the body.
      keepAlive() {},
    },
  });
  const gone = (): void => body.fail('aborted');
  res.once('close', () => {
    gone();
    body.release();
  });
  const status = body.check();
  if (status !== 0) {
    body.release();
    refuseBody(server, req, res, status, limit);
    return;
  }
  req
    .on('data', (chunk: Buffer) => body.receive(chunk))
    .on('end', () => body.end())
    .on('error', gone)
    .on('close', gone);
  run(server, req, res, body);
};
