import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { FastURL, type ServerRuntimeContext } from 'srvx';
import type { BodyBudget } from '../body-budget.ts';
import type { IncomingBody } from '../incoming-body.ts';
import type { FetchHandler, TransportOptions } from '../transport.ts';
import { copyHeaders, UwsHeaders } from './headers.ts';
import type { ReadTurns } from './read-turns.ts';

export type UwsServer = {
  fetch: FetchHandler;
  hostname: string;
  maxBodyBytes: number;
  bodyLimitOf: TransportOptions['bodyLimitOf'];
  streamLimitOf: TransportOptions['streamLimitOf'];
  budget: BodyBudget;
  readTurns: ReadTurns;
  bodyTimeoutMs: number;
  faultResponse: TransportOptions['faultResponse'];
  active: number;
  background: number;
  /** Open connections. */
  connections: number;
  /** Responses without a body in this iteration of the event loop. */
  bodiless: number;
  closing: boolean;
  onIdle: (() => void) | undefined;
};

const NativeRequest = globalThis.Request;
const EMPTY = new Uint8Array(0);
const runtime = { name: 'uws' } as unknown as ServerRuntimeContext;

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
export const abortError = () => new DOMException('The client closed the connection.', 'AbortError');

export const WAITING = 0;
export const DONE = 1;
const ABORTED = 2;
/** Answered. The connection is about to be closed. */
export const ENDING = 3;

/** The request that the application gets. Fields with an underscore are the state of the transport. */
export class UwsRequest {
  method: string;
  context: Record<string, unknown> | undefined = undefined;
  _server: UwsServer;
  _res: HttpResponse;
  /** Header names and values alternate. */
  _flat: readonly string[];
  /** True when no request may run behind this one on its connection. */
  _last = false;
  _path: string;
  _query: string | undefined;
  _state = WAITING;
  _body: Uint8Array | null = null;
  /** Bytes that the body counts for in the budget until it is read. */
  _held = 0;
  _bodyUsed = false;
  /** The body of a streamed route. */
  _upload: IncomingBody | null = null;
  _cachedUrl: URL | null = null;
  _cachedHeaders: UwsHeaders | null = null;
  _native: Request | null = null;
  _controller: AbortController | null = null;
  _ip: string | undefined = undefined;
  /**
   * Called when the client disconnects. It cancels the body stream of the response, or stops collecting the request
   * body.
   */
  _onAbort: (() => void) | null = null;

  constructor(
    server: UwsServer,
    res: HttpResponse,
    req: HttpRequest,
    method: string,
    path: string,
    query: string | undefined,
  ) {
    this.method = method;
    this._server = server;
    this._res = res;
    this._flat = copyHeaders(req);
    this._path = path;
    this._query = query;
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
    this._cachedHeaders ??= new UwsHeaders(this._flat);
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

  /** Registers work that continues after the answer. `close` waits for it. */
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
    const body = this._body;
    if (body === null) return EMPTY;
    this._bodyUsed = true;
    this._body = null;
    this._letGo();
    return body;
  }

  /** True when a streamed body has not been received completely. Nothing behind it on the connection may run. */
  get _uploading(): boolean {
    return this._upload !== null && !this._upload.complete;
  }

  /** Releases the bytes of the body from the budget. */
  _letGo(): void {
    if (this._upload !== null) this._upload.release();
    if (this._held === 0) return;
    this._server.budget.resize(this._held, 0);
    this._held = 0;
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

// Other properties of a Request (cache, mode, redirect, ...) come from a real Request, which is built only then.
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

/** The connection is gone. */
export const aborted = (request: UwsRequest): void => {
  request._state = ABORTED;
  request._controller?.abort(abortError());
  const onAbort = request._onAbort;
  request._onAbort = null;
  onAbort?.();
};
