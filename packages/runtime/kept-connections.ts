import { buildConnector, Pool } from 'undici';

export type KeptConnections = {
  readonly pool: Pool;
  /** A kept connection was found closed: the other side is well and has not seen the request, which can be sent again. */
  wasStale(error: unknown): boolean;
};

const closedCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** The code of a network fault; empty where it has none. */
export const faultCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Connections to one origin, without time-outs of their own: those of the caller stand above a whole call. */
export function keptConnections(
  origin: string,
  options: { connections: number; connectMs: number; keepAliveMs: number; maxAnswerBytes?: number },
): KeptConnections {
  const connect = buildConnector({ timeout: options.connectMs });
  const afterUse = new WeakSet<Error>();
  const pool = new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    keepAliveTimeout: options.keepAliveMs,
    ...(options.maxAnswerBytes === undefined ? {} : { maxResponseSize: options.maxAnswerBytes }),
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (target, callback) =>
      connect(target, (error, socket) => {
        if (error) return callback(error, null);
        const before = socket.bytesRead;
        socket.on('error', (fault) => {
          if (socket.bytesRead > before) afterUse.add(fault);
        });
        callback(null, socket);
      }),
  });
  return { pool, wasStale: (error) => closedCodes.has(faultCode(error)) && afterUse.has(error as Error) };
}
