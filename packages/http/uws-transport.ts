import type { HttpRequest, HttpResponse, RecognizedString, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { FastURL, type ServerRuntimeContext } from 'srvx';

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

/*
 * What this adapter has to know about uWebSockets.js 20 (each found by talking to it over a raw socket):
 * - A second request that arrives on a connection while the first is unanswered makes uWS close the connection:
 *   the first is aborted, the second never starts. Promise jobs run between two requests of one packet, so pipelined
 *   requests whose handlers wait for no I/O (or only for their own body) are all answered, in order.
 * - A half-closed connection is closed at once, with its unanswered request aborted.
 * - Timeouts are 10 s (in steps of 4 s): no complete header, no request on a kept-alive connection, a reader that takes
 *   nothing, a body slower than 16 kB/s. A waiting handler and an idle streamed response have none. `resume()` starts the
 *   timeout anew, which is how a body gets its whole `bodyTimeoutMs`.
 * - Header block limit 4096 bytes (UWS_HTTP_MAX_HEADERS_SIZE, read when the binary is loaded) and 100 headers: 431.
 * - HTTP/1.0, absolute-form and asterisk targets, and a TCP segment that ends within "HTTP/1.1": 505.
 * - Header values lose non-ASCII bytes at their end; invalid UTF-8 in them becomes U+FFFD.
 * - A head without Host, or with a line that has no colon, gets no answer: closed after the timeout.
 * - The handler is called before Content-Length is looked at: a malformed or repeated one is refused here.
 * - `endWithoutBody` with any argument leaves the response unfinished, which ends the process; without one it is fine.
 * - With an `onWritable` handler uWS no longer empties its own buffer: only a further, non-empty write does.
 */

const DEFAULT_MAX_BODY = 1024 * 1024;
const DEFAULT_BODY_TIMEOUT = 15_000;
const DEFAULT_CLOSE_DEADLINE = 10_000;
/** Bodies up to this are collected whatever else is. */
const SMALL_BODY = 64 * 1024;
/** Below the shortest time after which uWS may cut a slow body. */
const KEEP_BODY_MS = 4000;
/** A refused upload is read and dropped for this long, so that the client gets to read the answer and not a reset. */
const LINGER_MS = 1000;
/** The most uWS may have to keep of a last response, before it closes. */
const DIRECT_BODY = 16 * 1024;
const PIECE = 64 * 1024;
/** Bytes kept back from a streamed chunk: each one written makes uWS try its buffer again. */
const RESERVE = 32;

type UwsModule = typeof import('uWebSockets.js') & {
  LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  _cfg?: (key: string) => void;
};

type Server = {
  fetch: FetchHandler;
  hostname: string;
  maxBodyBytes: number;
  maxBufferedBytes: number;
  /** Bytes of the bodies that are being collected. */
  buffered: number;
  bodyTimeoutMs: number;
  faultResponse: ((status: number) => Fault) | undefined;
  active: number;
  background: number;
  closing: boolean;
  onIdle: (() => void) | undefined;
};

// --- request ---------------------------------------------------------------------------------------------------------

const NativeRequest = globalThis.Request;
const NativeHeaders = globalThis.Headers;
const EMPTY = new Uint8Array(0);
const EMPTY_BUFFER: Buffer = Buffer.alloc(0);
const runtime = { name: 'uws' } as unknown as ServerRuntimeContext;

/** Headers of which only the first counts, as in node:http; a repeated one of any other name is joined. */
const SINGLE = new Set(
  (
    'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since ' +
    'last-modified location max-forwards proxy-authorization referer retry-after server user-agent'
  ).split(' '),
);

const NON_ASCII = /[^\0-\x7f]/;

/** uWS decodes header values as UTF-8, fetch has one character per byte. */
const byteString = (value: string): string =>
  NON_ASCII.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value;

// HttpRequest.forEach is synchronous: one callback for all requests saves a closure for each.
let forEachTarget: string[] = [];
const forEachPush = (name: string, value: string): void => {
  forEachTarget.push(name, value);
};

const copyHeaders = (req: HttpRequest): string[] => {
  const flat: string[] = [];
  forEachTarget = flat;
  req.forEach(forEachPush);
  return flat;
};

/**
 * Request headers. While uWS's own request is alive single values are asked for natively (measured: copying eleven
 * headers takes 1 us, where bare uWS spends 1.4 us of user time on a whole request, and one getHeader 0.1 us); a request
 * that goes on asynchronously is copied into a flat array before the callback returns. Iterating builds real Headers.
 * Headers first asked for after a synchronous answer are gone.
 */
class UwsHeaders {
  _request: UwsRequest;
  _native: Headers | null = null;

  constructor(request: UwsRequest) {
    this._request = request;
  }

  get _headers(): Headers {
    if (this._native !== null) return this._native;
    const native = new NativeHeaders();
    const flat = this._request._copied();
    for (let i = 0; i < flat.length; i += 2) {
      const name = flat[i] as string;
      if (native.has(name)) continue;
      const value = this.get(name);
      if (value !== null) native.append(name, value);
    }
    this._native = native;
    return native;
  }

  get(name: string): string | null {
    if (this._native !== null) return this._native.get(name);
    const lower = name.toLowerCase();
    const request = this._request;
    if (request._req !== null && request._flat === null) {
      const value = request._req.getHeader(lower);
      if (value !== '' && SINGLE.has(lower)) return byteString(value);
      if (value === '') return null;
    }
    const flat = request._copied();
    let found: string | null = null;
    for (let i = 0; i < flat.length; i += 2) {
      if (flat[i] !== lower) continue;
      const value = flat[i + 1] as string;
      // uWS cannot tell empty from absent, and the answer must not change when the request goes on asynchronously.
      if (found === null && value === '') return null;
      if (found !== null) found += `, ${value}`;
      else if (SINGLE.has(lower)) return byteString(value);
      else found = value;
    }
    return found === null ? null : byteString(found);
  }

  has(name: string): boolean {
    return this._native !== null ? this._native.has(name) : this.get(name) !== null;
  }

  getSetCookie(): string[] {
    return this._headers.getSetCookie();
  }

  append(name: string, value: string): void {
    this._headers.append(name, value);
  }

  set(name: string, value: string): void {
    this._headers.set(name, value);
  }

  delete(name: string): void {
    this._headers.delete(name);
  }

  forEach(callback: (value: string, key: string, parent: Headers) => void, thisArg?: unknown): void {
    this._headers.forEach(callback, thisArg);
  }

  entries() {
    return this._headers.entries();
  }

  keys() {
    return this._headers.keys();
  }

  values() {
    return this._headers.values();
  }

  [Symbol.iterator]() {
    return this._headers.entries();
  }
}
Object.setPrototypeOf(UwsHeaders.prototype, NativeHeaders.prototype);

const HOST = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i;
let lastHost = '';
let lastHostValid = 'localhost';

const validHost = (host: string, fallback: string): string => {
  // Nearly every request of a server names the same host.
  if (host === lastHost && host !== '') return lastHostValid;
  if (host === '') return fallback;
  lastHost = host;
  lastHostValid = HOST.test(host) && URL.canParse(`http://${host}/`) ? host : '_invalid_';
  return lastHostValid;
};

type UrlFromParts = new (parts: { protocol: string; host: string; pathname: string; search: string }) => URL;

const bodyUsedError = () => new TypeError('Body is unusable: Body has already been read');
const abortError = () => new DOMException('The client closed the connection.', 'AbortError');

const WAITING = 0;
const DONE = 1;
const ABORTED = 2;

/** The request object handed to the application, and the adapter's own record of the exchange (underscored). */
class UwsRequest {
  method: string;
  context: Record<string, unknown> | undefined = undefined;
  _server: Server;
  _res: HttpResponse;
  /** Only until the uWS callback returns. */
  _req: HttpRequest | null;
  _flat: string[] | null = null;
  _path: string;
  _query: string | undefined;
  _state = WAITING;
  _body: Uint8Array | null = null;
  _bodyUsed = false;
  _cachedUrl: URL | null = null;
  _cachedHeaders: UwsHeaders | null = null;
  _native: Request | null = null;
  _controller: AbortController | null = null;
  _ip: string | undefined = undefined;
  /** Called when the client goes away: cancels the body stream of the response or the collecting of the request body. */
  _onAbort: (() => void) | null = null;

  constructor(
    server: Server,
    res: HttpResponse,
    req: HttpRequest,
    method: string,
    path: string,
    query: string | undefined,
  ) {
    this.method = method;
    this._server = server;
    this._res = res;
    this._req = req;
    this._path = path;
    this._query = query;
  }

  _copied(): string[] {
    if (this._flat === null) this._flat = this._req === null ? [] : copyHeaders(this._req);
    return this._flat;
  }

  get runtime(): ServerRuntimeContext {
    return runtime;
  }

  get ip(): string | undefined {
    if (this._ip === undefined && this._state === WAITING) {
      this._ip = Buffer.from(this._res.getRemoteAddressAsText()).toString('latin1');
    }
    return this._ip;
  }

  get headers(): UwsHeaders {
    this._cachedHeaders ??= new UwsHeaders(this);
    return this._cachedHeaders;
  }

  get _url(): URL {
    if (this._cachedUrl === null) {
      this._cachedUrl = new (FastURL as unknown as UrlFromParts)({
        protocol: 'http:',
        host: validHost(this.headers.get('host') ?? '', this._server.hostname),
        pathname: this._path,
        search: this._query ? `?${this._query}` : '',
      });
    }
    return this._cachedUrl;
  }

  set _url(url: URL) {
    this._cachedUrl = url;
  }

  get url(): string {
    return this._url.href;
  }

  get signal(): AbortSignal {
    if (this._controller === null) {
      this._controller = new AbortController();
      if (this._state === ABORTED) this._controller.abort(abortError());
    }
    return this._controller.signal;
  }

  /** Work that goes on after the answer; close() waits for it. */
  waitUntil(promise: Promise<unknown>): void {
    const server = this._server;
    server.background++;
    const settled = () => {
      server.background--;
      server.onIdle?.();
    };
    Promise.resolve(promise).then(settled, settled);
  }

  get _request(): Request {
    if (this._native === null) {
      this._native = new NativeRequest(this.url, {
        method: this.method,
        headers: this.headers as unknown as Headers,
        signal: this.signal,
        body: this._bodyUsed ? null : (this._body as Uint8Array<ArrayBuffer> | null),
      });
    }
    return this._native;
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this._body === null ? null : this._request.body;
  }

  get bodyUsed(): boolean {
    return this._bodyUsed || (this._native?.bodyUsed ?? false);
  }

  _take(): Uint8Array {
    if (this._bodyUsed) throw bodyUsedError();
    if (this._body === null) return EMPTY;
    this._bodyUsed = true;
    return this._body;
  }

  async text(): Promise<string> {
    if (this._native !== null) return this._native.text();
    const bytes = this._take();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async bytes(): Promise<Uint8Array> {
    if (this._native !== null) return new Uint8Array(await this._native.arrayBuffer());
    return this._take().slice();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = await this.bytes();
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  }

  async blob(): Promise<Blob> {
    if (this._bodyUsed) throw bodyUsedError();
    return this._request.blob();
  }

  async formData(): Promise<FormData> {
    if (this._bodyUsed) throw bodyUsedError();
    return this._request.formData();
  }

  clone(): Request {
    if (this._bodyUsed) throw bodyUsedError();
    return this._request.clone();
  }
}

// Anything else a Request has (cache, mode, redirect, ...) comes from a real one, built only then.
for (const key of Object.getOwnPropertyNames(NativeRequest.prototype)) {
  if (key in UwsRequest.prototype) continue;
  Object.defineProperty(UwsRequest.prototype, key, {
    configurable: true,
    get(this: UwsRequest) {
      return this._request[key as keyof Request];
    },
  });
}
Object.setPrototypeOf(UwsRequest.prototype, NativeRequest.prototype);

// --- response --------------------------------------------------------------------------------------------------------

const STATUS_LINE: Record<number, string> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  203: '203 Non-Authoritative Information',
  204: '204 No Content',
  205: '205 Reset Content',
  206: '206 Partial Content',
  207: '207 Multi-Status',
  300: '300 Multiple Choices',
  301: '301 Moved Permanently',
  302: '302 Found',
  303: '303 See Other',
  304: '304 Not Modified',
  307: '307 Temporary Redirect',
  308: '308 Permanent Redirect',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  402: '402 Payment Required',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  406: '406 Not Acceptable',
  408: '408 Request Timeout',
  409: '409 Conflict',
  410: '410 Gone',
  411: '411 Length Required',
  412: '412 Precondition Failed',
  413: '413 Payload Too Large',
  414: '414 URI Too Long',
  415: '415 Unsupported Media Type',
  416: '416 Range Not Satisfiable',
  417: '417 Expectation Failed',
  418: "418 I'm a Teapot",
  421: '421 Misdirected Request',
  422: '422 Unprocessable Entity',
  423: '423 Locked',
  424: '424 Failed Dependency',
  425: '425 Too Early',
  426: '426 Upgrade Required',
  428: '428 Precondition Required',
  429: '429 Too Many Requests',
  431: '431 Request Header Fields Too Large',
  451: '451 Unavailable For Legal Reasons',
  500: '500 Internal Server Error',
  501: '501 Not Implemented',
  502: '502 Bad Gateway',
  503: '503 Service Unavailable',
  504: '504 Gateway Timeout',
  507: '507 Insufficient Storage',
  511: '511 Network Authentication Required',
};

const WRITE = 1;
const SKIP = 2;
const LENGTH = 3;
const CONNECTION = 4;

/** What to do with a response header, by its name as the application wrote it. uWS writes its own Date and framing. */
const headerKinds = new Map<string, number>([
  ['content-length', LENGTH],
  ['connection', CONNECTION],
  ['date', SKIP],
  ['keep-alive', SKIP],
  ['transfer-encoding', SKIP],
]);
const MAX_KNOWN_NAMES = 500;
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const PLAIN_VALUE = /^[\t\x20-\x7e]*$/;
const BYTE_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const REASON = /^[\t\x20-\x7e]+$/;

const headerKind = (name: string): number => {
  const known = headerKinds.get(name);
  if (known !== undefined) return known;
  if (typeof name !== 'string' || !TOKEN.test(name)) throw new TypeError(`Invalid response header name: ${name}`);
  const kind = headerKinds.get(name.toLowerCase()) ?? WRITE;
  if (headerKinds.size < MAX_KNOWN_NAMES) headerKinds.set(name, kind);
  return kind;
};

type NodeReadable = AsyncIterable<Uint8Array> & { pipe: unknown; destroy?: (error?: Error) => void };
type Body = string | Uint8Array | ReadableStream<Uint8Array> | NodeReadable | null | undefined;
type Parts = { status: number; statusText: string; headers: string[]; body: Body };

const toParts = (response: Response): Parts => {
  const fast = response as unknown as { _toNodeResponse?: () => Parts };
  if (typeof fast._toNodeResponse === 'function') return fast._toNodeResponse();
  const headers: string[] = [];
  for (const [name, value] of response.headers) headers.push(name, value);
  return { status: response.status, statusText: response.statusText, headers, body: response.body };
};

const toStream = (body: ReadableStream<Uint8Array> | NodeReadable): ReadableStream<Uint8Array> =>
  body instanceof ReadableStream
    ? body
    : (ReadableStream as unknown as { from(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> }).from(body);

const discard = (body: Body): void => {
  if (body == null || typeof body === 'string' || body instanceof Uint8Array) return;
  if (body instanceof ReadableStream) {
    if (!body.locked) body.cancel().catch(() => {});
  } else body.destroy?.();
};

/** The response is complete, or never will be. */
const release = (request: UwsRequest): void => {
  const server = request._server;
  server.active--;
  if (server.onIdle !== undefined) server.onIdle();
};

const done = (request: UwsRequest): void => {
  request._state = DONE;
  release(request);
};

/** Cuts the connection: the only way to say that a response which has begun is not complete. */
const cut = (request: UwsRequest): void => {
  if (request._state === WAITING) request._res.close();
};

/**
 * All headers as one native call (uWS writes "key: value" and a line end, so a value may carry further lines): each call
 * crosses into C++ and encodes two strings. Values are checked before.
 */
const writeHead = (res: HttpResponse, line: string, first: string, rest: RecognizedString): void => {
  if (line !== '200 OK') res.writeStatus(line);
  if (first !== '') res.writeHeader(first, rest);
};

const statusLine = (status: number, statusText: string): string => {
  if (!(status >= 200 && status <= 599)) throw new RangeError(`Response status ${status} cannot be sent`);
  const line = STATUS_LINE[status];
  if (statusText && REASON.test(statusText)) return `${status} ${statusText}`;
  return line ?? `${status} Status`;
};

/** Writes a response; must run inside the uWS callback or a cork. Throws only before anything has been written. */
const respond = (request: UwsRequest, response: Response): void => {
  const { status, statusText, headers, body } = toParts(response);
  const res = request._res;
  const line = status === 200 && !statusText ? '200 OK' : statusLine(status, statusText);
  let close = request._server.closing;
  let declared = -1;
  let first = '';
  let rest = '';
  let binary = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const kind = headerKind(name);
    if (kind === SKIP) continue;
    let value = headers[i + 1] as string;
    if (typeof value !== 'string') value = String(value);
    if (!PLAIN_VALUE.test(value)) {
      if (!BYTE_VALUE.test(value)) throw new TypeError(`Invalid characters in response header ${name}`);
      binary = true;
    }
    if (kind === WRITE) {
      if (first === '') {
        first = name;
        rest = value;
      } else rest += `\r\n${name}: ${value}`;
    } else if (kind === LENGTH) declared = /^\d+$/.test(value) ? Number(value) : -1;
    else if (value.toLowerCase() === 'close') close = true;
  }
  const encoded: RecognizedString = binary ? Buffer.from(rest, 'latin1') : rest;

  if (request.method === 'HEAD' || status === 204 || status === 304) {
    discard(body);
    writeHead(res, line, first, encoded);
    if (declared < 0 && typeof body === 'string') declared = Buffer.byteLength(body);
    else if (declared < 0 && body instanceof Uint8Array) declared = body.byteLength;
    if (declared >= 0 && status !== 204 && status !== 304) res.writeHeader('content-length', String(declared));
    if (close) res.writeHeader('connection', 'close');
    res.endWithoutBody();
    done(request);
  } else if (body == null || body === '' || status === 205) {
    discard(body);
    writeHead(res, line, first, encoded);
    res.end('', close);
    done(request);
  } else if (typeof body === 'string' || body instanceof Uint8Array) {
    writeHead(res, line, first, encoded);
    if (close && body.length <= DIRECT_BODY) {
      res.end(body, true);
      done(request);
    } else {
      if (close) res.writeHeader('connection', 'close');
      sendBytes(request, body);
    }
  } else {
    const reader = toStream(body).getReader();
    writeHead(res, line, first, encoded);
    if (close) res.writeHeader('connection', 'close');
    if (declared >= 0) sendSized(request, reader, declared);
    else sendChunked(request, reader);
  }
};

/**
 * tryEnd, unlike end, keeps nothing for a client that does not read: the response stays unfinished, and one that goes on
 * sending requests is closed. (With end, 200,000 pipelined requests for 2 kB took 400 MB.)
 */
const sendBytes = (request: UwsRequest, body: string | Uint8Array): void => {
  const res = request._res;
  const total = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (res.tryEnd(body as RecognizedString, total)[1]) {
    done(request);
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  request._onAbort = () => release(request);
  res.onWritable((offset) => {
    if (request._state !== WAITING) return true;
    const [ok, finished] = res.tryEnd(bytes.subarray(offset) as RecognizedString, total);
    if (finished) done(request);
    return ok;
  });
};

type Reader = ReadableStreamDefaultReader<Uint8Array>;

const cancelOnAbort = (request: UwsRequest, reader: Reader): void => {
  request._onAbort = () => {
    reader.cancel(abortError()).catch(() => {});
    release(request);
  };
};

/** A stream whose length the application declared. More or fewer bytes than that cut the connection. */
const sendSized = (request: UwsRequest, reader: Reader, total: number): void => {
  const res = request._res;
  let rest: Uint8Array | null = null;
  let restStart = 0;
  let sent = 0;
  cancelOnAbort(request, reader);
  const fail = (): void => {
    if (request._state !== WAITING) return;
    cut(request);
  };
  const push = (chunk: Uint8Array): boolean => {
    const [ok, finished] = res.tryEnd(chunk, total);
    if (finished) {
      reader.cancel().catch(() => {});
      done(request);
    }
    return ok;
  };
  const pull = (): void => {
    reader.read().then(({ done: ended, value }) => {
      if (request._state !== WAITING) return;
      if (ended) {
        if (total > 0) return fail();
        res.cork(() => res.end(''));
        return done(request);
      }
      if (!(value instanceof Uint8Array) || sent + value.byteLength > total) {
        reader.cancel().catch(() => {});
        return fail();
      }
      if (value.byteLength === 0) return pull();
      restStart = sent;
      sent += value.byteLength;
      // Not corked: only then does tryEnd tell what has reached the kernel.
      const ok = push(value);
      if (request._state !== WAITING) return;
      if (ok) pull();
      else rest = value;
    }, fail);
  };
  res.onWritable((offset) => {
    if (request._state !== WAITING || rest === null) return true;
    const ok = push(rest.subarray(offset - restStart));
    if (ok) {
      rest = null;
      if (request._state === WAITING) pull();
    }
    return ok;
  });
  pull();
};

/**
 * A stream of unknown length, chunked. The next chunk is pulled when uWS has handed everything to the kernel. Once a
 * client has been slow, a few bytes of each chunk are kept back and written one by one while it catches up, because
 * with an `onWritable` handler nothing but a write empties uWS's buffer.
 */
const sendChunked = (request: UwsRequest, reader: Reader): void => {
  const res = request._res;
  let chunk: Uint8Array = EMPTY;
  let position = 0;
  /** Where the bytes begin that are kept back. */
  let reserve = 0;
  let pressed = false;
  let slow = false;
  let waiting = false;
  cancelOnAbort(request, reader);
  const fail = (): void => cut(request);

  const wait = (): void => {
    waiting = true;
    if (slow) return;
    slow = true;
    res.onWritable(writable);
  };
  const writable = (): boolean => {
    if (!waiting || request._state !== WAITING) return true;
    waiting = false;
    if (position < chunk.byteLength) flush(true);
    else pull();
    return true;
  };

  /** `blocked`: the last write did not fit, so take small steps until one does. */
  const flush = (blocked: boolean): void => {
    let stuck = blocked;
    while (position < chunk.byteLength) {
      const end = position < reserve ? Math.min(position + PIECE, reserve) : stuck ? position + 1 : chunk.byteLength;
      stuck = !(slow ? write(chunk.subarray(position, end)) : res.write(chunk.subarray(position, end)));
      position = end;
      if (stuck && position < chunk.byteLength) break;
    }
    if (stuck && (slow || position < chunk.byteLength)) wait();
    else {
      pressed = stuck;
      pull();
    }
  };

  /** Each in a cork of its own, as uWS complains on stderr about any other: it then tells what became of the one before. */
  const write = (piece: Uint8Array): boolean => {
    let fits = true;
    res.cork(() => {
      fits = res.write(piece);
    });
    return fits;
  };

  const pull = (): void => {
    reader.read().then(({ done: ended, value }) => {
      if (request._state !== WAITING) return;
      if (ended) {
        // Not with `close`: uWS would write the header into the body, which has said it at its head.
        res.cork(() => res.end(''));
        return done(request);
      }
      if (!(value instanceof Uint8Array)) {
        reader.cancel().catch(() => {});
        return fail();
      }
      if (pressed && !slow) {
        slow = true;
        res.onWritable(writable);
      }
      chunk = value;
      position = 0;
      reserve = slow ? Math.max(1, value.byteLength - RESERVE) : value.byteLength;
      // A corked write always seems to fit: good enough until the client has been slow, then the truth matters.
      if (slow) flush(false);
      else res.cork(() => flush(false));
    }, fail);
  };
  pull();
};

const faultParts = (server: Server, status: number): Fault => {
  try {
    const made = server.faultResponse?.(status);
    if (made && Object.values(made.headers).every((value) => PLAIN_VALUE.test(value))) return made;
  } catch {
    // The fault itself must still be answered.
  }
  return { headers: {}, body: '' };
};

const writeFields = (res: HttpResponse, headers: Fault['headers']): void => {
  for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value);
};

/** Answers a fault; inside the uWS callback or a cork. */
const fault = (request: UwsRequest, status: number, close: boolean): void => {
  const res = request._res;
  const { headers, body } = faultParts(request._server, status);
  res.writeStatus(STATUS_LINE[status] ?? `${status} Fault`);
  writeFields(res, headers);
  if (status === 503) res.writeHeader('retry-after', '1');
  if (request.method === 'HEAD') {
    if (body !== '') res.writeHeader('content-length', String(Buffer.byteLength(body)));
    if (close) res.writeHeader('connection', 'close');
    res.endWithoutBody();
  } else res.end(body, close);
  done(request);
};

// --- exchange --------------------------------------------------------------------------------------------------------

const answer = (request: UwsRequest, response: Response): void => {
  try {
    respond(request, response);
  } catch {
    if (request._state === WAITING) fault(request, 500, request._server.closing);
  }
};

const aborted = (request: UwsRequest): void => {
  request._state = ABORTED;
  request._controller?.abort(abortError());
  const onAbort = request._onAbort;
  request._onAbort = null;
  onAbort?.();
};

/** Runs the application; inside the uWS callback. */
const run = (request: UwsRequest, watched: boolean): void => {
  const server = request._server;
  let result: Response | Promise<Response>;
  try {
    result = server.fetch(request as unknown as Request);
  } catch {
    request._req = null;
    fault(request, 500, server.closing);
    return;
  }
  const res = request._res;
  if (typeof (result as Promise<Response>)?.then !== 'function') {
    answer(request, result as Response);
    if (request._state === WAITING) {
      request._copied();
      if (!watched) res.onAborted(() => aborted(request));
    }
    request._req = null;
    return;
  }
  // After this callback uWS's request is gone, so what the application may still ask for is copied now.
  request._copied();
  request._req = null;
  if (!watched) res.onAborted(() => aborted(request));
  (result as Promise<Response>).then(
    (response) => {
      if (request._state !== WAITING) {
        release(request);
        try {
          discard(toParts(response).body);
        } catch {
          // Not a response; nobody is left to be told.
        }
      } else res.cork(() => answer(request, response));
    },
    () => {
      if (request._state !== WAITING) release(request);
      else res.cork(() => fault(request, 500, server.closing));
    },
  );
};

const DIGITS = /^\d+$/;

/** -1 chunked, -2 malformed, otherwise the declared length. */
const bodyLength = (flat: string[]): number => {
  let length = '';
  let chunked = false;
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i] as string;
    if (name === 'content-length') {
      const value = flat[i + 1] as string;
      if (!DIGITS.test(value) || (length !== '' && length !== value)) return -2;
      length = value;
    } else if (name === 'transfer-encoding') {
      if (chunked || (flat[i + 1] as string).toLowerCase() !== 'chunked') return -2;
      chunked = true;
    }
  }
  if (chunked) return length === '' ? -1 : -2;
  return length === '' ? 0 : Number(length);
};

/**
 * Collects the body, then runs the application: faults of the body never reach it, and it may read the body whenever it
 * likes. The bytes uWS hands out are gone after the callback, so they are copied into one growing buffer (one object
 * for each of a million one-byte chunks would be far more than the limit).
 */
const collect = (request: UwsRequest, declared: number): void => {
  const server = request._server;
  const res = request._res;
  const limit = server.maxBodyBytes;
  const deadline = performance.now() + server.bodyTimeoutMs;
  let buffer: Buffer = EMPTY_BUFFER;
  let used = 0;
  /** The status with which it was. */
  let refused = 0;
  let timer: NodeJS.Timeout | undefined;

  const replace = (other: Buffer): void => {
    server.buffered += other.byteLength - buffer.byteLength;
    buffer = other;
  };
  /** Whether there is no room for a body that grows to this. */
  const isFull = (size: number): boolean =>
    size > SMALL_BODY && server.buffered - buffer.byteLength + size > server.maxBufferedBytes;
  const endRefused = (): void => {
    if (request._state === WAITING) res.cork(() => fault(request, refused, true));
  };
  /** The answer waits until the upload is read (and dropped) or the linger is over: earlier, the client may see a reset. */
  const refuse = (status: number): void => {
    refused = status;
    replace(EMPTY_BUFFER);
    clearTimeout(timer);
    timer = setTimeout(endRefused, LINGER_MS);
  };
  const tick = (): void => {
    if (request._state !== WAITING) return;
    const left = deadline - performance.now();
    if (left <= 0) {
      replace(EMPTY_BUFFER);
      res.cork(() => fault(request, 408, true));
      return;
    }
    res.pause();
    res.resume();
    timer = setTimeout(tick, Math.min(left, KEEP_BODY_MS));
  };

  res.onAborted(() => aborted(request));
  request._onAbort = () => {
    clearTimeout(timer);
    replace(EMPTY_BUFFER);
    release(request);
  };
  res.onData((data, last) => {
    if (request._state !== WAITING) return;
    const size = data.byteLength;
    if (refused === 0 && used + size > limit) refuse(413);
    if (refused === 0 && used + size > buffer.byteLength && isFull(used + size)) refuse(503);
    if (refused !== 0) {
      if (last) {
        clearTimeout(timer);
        endRefused();
      }
      return;
    }
    if (size > 0) {
      if (used + size > buffer.byteLength) {
        const grown = Buffer.allocUnsafe(
          last ? used + size : Math.min(limit, Math.max(2 * buffer.byteLength, used + size, 1024)),
        );
        grown.set(buffer.subarray(0, used));
        replace(grown);
      }
      buffer.set(new Uint8Array(data), used);
      used += size;
    }
    if (!last) return;
    clearTimeout(timer);
    request._onAbort = null;
    request._body = buffer.subarray(0, used);
    replace(EMPTY_BUFFER);
    run(request, true);
  });
  if (declared > limit) refuse(413);
  else if (isFull(declared)) refuse(503);
  else timer = setTimeout(tick, Math.min(server.bodyTimeoutMs, KEEP_BODY_MS));
};

export const load = async (): Promise<UwsModule> => {
  // Read once, when the binary is loaded: the 4096 bytes of uWS are little for cookies; 16 KiB is what node:http takes.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= '16384';
  try {
    return (await import('uWebSockets.js')) as unknown as UwsModule;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    const message = `uWebSockets.js cannot be loaded on ${process.platform} ${process.arch}, Node ${process.version}: ${reason}`;
    throw Object.assign(new Error(message, { cause: error }), { binaryMissing: true });
  }
};

export const serveUws = async (options: TransportOptions): Promise<Transport> => {
  const uws = await load();
  // Leaves out the "uWebSockets: 20" response header.
  uws._cfg?.('silent');
  const hostname = options.hostname ?? '127.0.0.1';
  const server: Server = {
    fetch: options.fetch,
    hostname,
    maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY,
    maxBufferedBytes: options.maxBufferedBytes ?? Number.POSITIVE_INFINITY,
    buffered: 0,
    bodyTimeoutMs: options.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT,
    faultResponse: options.faultResponse,
    active: 0,
    background: 0,
    closing: false,
    onIdle: undefined,
  };

  const withoutBody = (method: string) => (res: HttpResponse, req: HttpRequest) => {
    server.active++;
    const request = new UwsRequest(server, res, req, method, req.getUrl(), req.getQuery());
    // A body here is ignored, but one of two lengths must not be: somebody else on the way may believe the other.
    const framed = req.getHeader('content-length') !== '' || req.getHeader('transfer-encoding') !== '';
    if (framed && bodyLength(request._copied()) === -2) fault(request, 400, true);
    else run(request, false);
  };
  const app: TemplatedApp = uws.App();
  app.get('/*', withoutBody('GET'));
  app.head('/*', withoutBody('HEAD'));
  app.any('/*', (res, req) => {
    server.active++;
    const request = new UwsRequest(server, res, req, req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery());
    const length = bodyLength(request._copied());
    if (length === 0) run(request, false);
    else if (length === -2) fault(request, 400, true);
    else {
      request._req = null;
      collect(request, length);
    }
  });

  const listen = app.listen as unknown as (
    host: string,
    port: number,
    listenOptions: number,
    callback: (token: us_listen_socket | false) => void,
  ) => void;
  const token = await new Promise<us_listen_socket | false>((resolve) => {
    // Without this option uWS shares the port (SO_REUSEPORT) with whoever else listens on it.
    listen.call(app, hostname, options.port ?? 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (token === false) {
    app.close();
    // uWS gives no reason.
    throw new Error(`Cannot listen on ${hostname}:${options.port ?? 0}: address in use or not available`);
  }
  const port = uws.us_socket_local_port(token as unknown as Parameters<typeof uws.us_socket_local_port>[0]);

  let closed: Promise<void> | undefined;
  const shut = async (deadlineMs: number): Promise<void> => {
    server.closing = true;
    uws.us_listen_socket_close(token);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      server.onIdle = () => {
        if (server.active > 0 || server.background > 0) return;
        clearTimeout(timer);
        // The last response may still be in the cork of the running callback.
        setImmediate(resolve);
      };
      server.onIdle();
    });
    server.onIdle = undefined;
    app.close();
  };

  return {
    name: 'uws',
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`,
    port,
    hostname,
    close: (deadlineMs = DEFAULT_CLOSE_DEADLINE) => {
      closed ??= shut(deadlineMs);
      return closed;
    },
    activeRequests: () => server.active,
  };
};
