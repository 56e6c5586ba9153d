import type { BodyBudget } from './body-budget.ts';
import type { SocketServer } from './sockets.ts';

/** Takes a Request, gives a Response: `app.fetch` of an h3 application fits. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

/** Header names in lower case; no content-length, no connection. */
export type Fault = { headers: Readonly<Record<string, string>>; body: string };

export type TransportOptions = {
  fetch: FetchHandler;
  hostname?: string;
  /** 0 takes any free port. */
  port?: number;
  /** Larger bodies are answered with 413, by their Content-Length or as soon as they grow over it. Default 1 MiB. */
  maxBodyBytes?: number;
  /** The limit of one route's bodies, asked when a body has more than 16 KiB; `maxBodyBytes` is the ceiling. */
  bodyLimitOf?: ((method: string, path: string) => number) | undefined;
  /**
   * Bytes of all bodies that are being collected or wait for the application to read them. A body that does not fit is answered
   * with 503 and Retry-After: 1; bodies of more than 16 KiB get three quarters of it. No bound by default.
   */
  maxBufferedBytes?: number;
  /** The whole body must have arrived by then, otherwise 408 and the connection is closed. Default 15 s. */
  bodyTimeoutMs?: number;
  /** The channels; without it a handshake is answered as any other request. `close` closes it too. */
  sockets?: SocketServer | null | undefined;
  /** Builds answers for faults that never reach the application; the default is an empty body. */
  faultResponse?: FaultResponse | undefined;
};

/** `limit`: with 413, the bytes that the body may have. */
type FaultResponse = (status: number, limit?: number) => Fault;

export type Transport = {
  name: 'uws' | 'node';
  url: string;
  port: number;
  hostname: string;
  /** Stops accepting, lets running requests finish, closes idle connections; whatever is left after the deadline is cut. */
  close(deadlineMs?: number): Promise<void>;
  activeRequests(): number;
  /** The memory that request bodies hold, and how many were refused. */
  readonly bodies: Pick<BodyBudget, 'held' | 'refused'>;
};

export const DEFAULT_MAX_BODY = 1024 * 1024;
export const DEFAULT_BODY_TIMEOUT = 15_000;
export const DEFAULT_CLOSE_DEADLINE = 10_000;
/** A refused upload is read and dropped for this long, so that the client gets to read the answer and not a reset. */
export const LINGER_MS = 1000;
