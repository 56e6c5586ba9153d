import { guardedConnector, openPartnerGuard } from '@tradepost/outbound-http';
import { type buildConnector, Pool } from 'undici';

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

/** The messages of the errors themselves may quote the request. */
const networkFaults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  REFUSED_ADDRESS: 'the address is not allowed',
  UND_ERR_DESTROYED: 'this process is being stopped',
};

/** A network error as text with its code, for logs and operators. `own` has the texts for further codes, `other` is the rest. */
export function networkFaultText(error: unknown, other: string, own: Readonly<Record<string, string>> = {}): string {
  const name = error instanceof Error ? error.name : '';
  const code = faultCode(error) || name;
  const text = name === 'HTTPParserError' ? 'the answer is not HTTP' : (own[code] ?? networkFaults[code] ?? other);
  return `${text} (${code})`;
}

const partnerGuard = openPartnerGuard();

/** Opens connections to one origin. They have no time-outs for answers: the caller limits the whole call. */
export function keptConnections(
  origin: string,
  options: {
    connections: number;
    connectMs: number;
    keepAliveMs: number;
    maxAnswerBytes?: number;
    /** Replaces the usual connector, which refuses the metadata services of clouds, where other addresses need a check too. */
    connect?: buildConnector.connector;
  },
): KeptConnections {
  const connect = options.connect ?? guardedConnector(partnerGuard, { connectMs: options.connectMs });
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
