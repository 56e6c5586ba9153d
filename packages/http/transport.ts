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
  /**
   * Bytes of all bodies that are being collected at once. Beyond it those of more than 64 KiB are answered with 503 and
   * Retry-After: 1. No bound by default.
   */
  maxBufferedBytes?: number;
  /** The whole body must have arrived by then, otherwise 408 and the connection is closed. Default 15 s. */
  bodyTimeoutMs?: number;
  /** Builds answers for faults that never reach the application; the default is an empty body. */
  faultResponse?: (status: number) => Fault;
};

export type Transport = {
  name: 'uws' | 'node';
  url: string;
  port: number;
  hostname: string;
  /** Stops accepting, lets running requests finish, closes idle connections; whatever is left after the deadline is cut. */
  close(deadlineMs?: number): Promise<void>;
  activeRequests(): number;
};

export const DEFAULT_MAX_BODY = 1024 * 1024;
export const DEFAULT_BODY_TIMEOUT = 15_000;
export const DEFAULT_CLOSE_DEADLINE = 10_000;
/** Bodies up to this are collected whatever else is. */
export const SMALL_BODY = 64 * 1024;
/** A refused upload is read and dropped for this long, so that the client gets to read the answer and not a reset. */
export const LINGER_MS = 1000;
