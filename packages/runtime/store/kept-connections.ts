import { buildConnector, Pool } from 'undici';

export type KeptConnections = {
  readonly pool: Pool;
  /**
   * A connection that had been used before was closed. Where nothing of the answer had come it was most likely closed for its age
   * while the request was on its way, which can then be sent again. Likely, not certain: the other side can have read the
   * request and died of it, so a repeat is for requests that may arrive twice, and counts as an attempt.
   */
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
