import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyBuffer } from '../body-budget.ts';
import type { NodeServer } from './node-server.ts';
import { fault, refuseBody } from './refuse.ts';
import { run } from './run.ts';

export const hasBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';

/** Srvx reads the body from `rawBody`, several times within one call. After that call the bytes are released. */
const lendBody = (req: IncomingMessage, buffer: BodyBuffer): void => {
  let body: Buffer | undefined = buffer.bytes();
  let read = false;
  const returnBytes = (): void => {
    body = undefined;
    buffer.drop();
  };
  Object.defineProperty(req, 'rawBody', {
    get() {
      if (!read) queueMicrotask(returnBytes);
      read = true;
      return body;
    },
  });
};

/** Collects the body, then runs the application, as the uWS transport does. */
export const collectBody = (server: NodeServer, req: IncomingMessage, res: ServerResponse): void => {
  const { method = '', url = '' } = req;
  const length = req.headers['content-length'];
  const declared = length === undefined ? -1 : Number(length);
  const buffer = new BodyBuffer(server.budget, {
    most: server.maxBodyBytes,
    limitOf: () => server.bodyLimitOf?.(method, url.replace(/\?.*/s, '')) ?? server.maxBodyBytes,
    declared,
  });
  const early = buffer.check(Math.max(0, declared));
  if (early !== 0) {
    refuseBody(server, req, res, early, buffer.limit);
    return;
  }
  res.once('close', () => buffer.drop());
  const stop = (): void => {
    clearTimeout(timer);
    req.off('data', onData).off('end', onEnd).off('error', leave).off('close', leave);
    // Without a listener the error of a connection that breaks later would be thrown.
    req.on('error', () => {});
  };
  const leave = (): void => {
    stop();
    buffer.drop();
  };
  const onData = (chunk: Buffer): void => {
    const status = buffer.add(chunk);
    if (status === 0) return;
    stop();
    refuseBody(server, req, res, status, buffer.limit);
  };
  const onEnd = (): void => {
    stop();
    lendBody(req, buffer);
    run(server, req, res);
  };
  const timer = setTimeout(() => {
    leave();
    res.once('finish', () => req.socket.destroySoon());
    fault(server, res, 408, true);
  }, server.bodyTimeoutMs);
  req.on('data', onData).on('end', onEnd).on('error', leave).on('close', leave);
};
