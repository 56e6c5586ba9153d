import type { BodyBudget } from './body-budget.ts';
import type { SocketServer } from './sockets.ts';

/** Answers a Request with a Response. The `fetch` of an h3 application has this type. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

/** Header names are in lower case. Content-length and connection are added by the transport. */
export type Fault = { headers: Readonly<Record<string, string>>; body: string };

export type TransportOptions = {
  fetch: FetchHandler;
  hostname?: string;
  /** 0 means any free port. */
  port?: number;
  /** A larger body is answered with 413, by its Content-Length or as soon as it exceeds the limit. Default 1 MiB. */
  maxBodyBytes?: number;
  /** The body limit of one route, at most `maxBodyBytes`. It is called when a body has more than 16 KiB. */
  bodyLimitOf?: ((method: string, path: string) => number) | undefined;
  /**
   * The limit of a body that the application reads as a stream, or 0 for a body that is collected. `maxBodyBytes` does
   * not apply to streams. It is called for every request with a body.
   */
  streamLimitOf?: ((method: string, path: string) => number) | undefined;
  /**
   * The memory for all bodies that are being collected or wait for the application to read them, in bytes. A body that
   * does not fit is answered with 503 and Retry-After: 1. Bodies of more than 16 KiB may use three quarters of it.
   * Unlimited by default.
   */
  maxBufferedBytes?: number;
  /** The time for a whole body to arrive. After it the answer is 408 and the connection is closed. Default 15 s. */
  bodyTimeoutMs?: number;
  /** The channels. Without them a handshake is answered like any other request. `close` closes them too. */
  sockets?: SocketServer | null | undefined;
  /** Builds answers for faults that do not reach the application. The default is an empty body. */
  faultResponse?: FaultResponse | undefined;
};

/** `limit` is the body limit in bytes, for status 413. */
type FaultResponse = (status: number, limit?: number) => Fault;

type CloseOptions = { keepIdle?: boolean };

export type Transport = {
  name: 'uws' | 'node';
  url: string;
  port: number;
  hostname: string;
  /**
   * Stops accepting, waits for running requests and closes idle connections. Connections that are open after the
   * deadline are cut. With `keepIdle` idle connections are not closed, because a proxy may be sending a request on one: each
   * ends with its next answer, which has `Connection: close`, or by the timeout of idle connections.
   */
  close(deadlineMs?: number, options?: CloseOptions): Promise<void>;
  activeRequests(): number;
  /** The bytes that request bodies hold, and the number of bodies that were refused. */
  readonly bodies: Pick<BodyBudget, 'held' | 'refused'>;
};

export const DEFAULT_MAX_BODY = 1024 * 1024;
export const DEFAULT_BODY_TIMEOUT = 15_000;
export const DEFAULT_CLOSE_DEADLINE = 10_000;
/**
 * A refused upload is read and discarded for this long. The client can then read the answer and does not see a reset.
 */
export const LINGER_MS = 1000;
