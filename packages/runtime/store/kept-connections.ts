import { buildConnector, Pool } from 'undici';

export type KeptConnections = {
  readonly pool: Pool;
  /**
   * Whether a connection was closed that had been used before. When no part of the answer has arrived, the server most
   * likely closed the idle connection while the request was under way, and the request can be sent again. It is not
   * certain: the server may have read the request. So only a request that may arrive twice is repeated, and the repeat
   * counts as an attempt.
   */
  wasStale(error: unknown): boolean;
};

const closedCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** The code of a network error. Empty when it has no code. */
export const faultCode = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Opens connections to one origin. They have no time-outs for answers: the caller limits the whole call. */
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
