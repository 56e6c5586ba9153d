import type { HttpResponse, RecognizedString } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { type Body, discard, toParts, toStream } from '../response-parts.ts';
import { type Fault, LINGER_MS } from '../transport.ts';
import { aborted, ENDING, type UwsRequest, type UwsServer, WAITING } from './request.ts';
import { done, release, sendBytes, sendChunked, sendSized } from './send.ts';

/** The time that a client has to read the answer before the connection is closed. */
const CLOSE_AFTER_MS = 50;
/** The number of responses without a body that one iteration of the event loop completes at once. */
const BODILESS_AT_ONCE = 100;
/** The largest response that uWS may buffer before it closes the connection. */
const DIRECT_BODY = 16 * 1024;

const STATUS_LINE: Record<number, string> = {};
for (const [status, reason] of Object.entries(STATUS_CODES)) STATUS_LINE[Number(status)] = `${status} ${reason}`;

const WRITE = 1;
const SKIP = 2;
const LENGTH = 3;
const CONNECTION = 4;

/**
 * The handling of a response header, by its name in the spelling of the application. uWS writes Date and framing
 * itself.
 */
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

/**
 * Writes all headers with one native call: uWS writes "key: value" and a line end, so a value may contain further
 * lines. A call per header would cross into C++ and encode two strings each time. Values are checked before.
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

/**
 * Writes a whole response as its head. With `endOfHead` in the value of the last header, uWS sends the body unchanged.
 * uWS regards the response as unfinished, and closes the connection when another request arrives before the end. So no
 * request behind this one runs. Then the connection is closed.
 */
const endConnection = (request: UwsRequest, line: string, fields: string, body: string): void => {
  const res = request._res;
  // uWS adds a line end to the value. It ends the head, or it follows the body, where white space after JSON is
  // allowed.
  const endOfHead = body === '' ? '\r\n' : `\r\n\r\n${body}`;
  request._state = ENDING;
  request._onAbort = () => release(request);
  res.onAborted(() => aborted(request));
  res.writeStatus(line);
  res.writeHeader('connection', `close\r\ndate: ${new Date().toUTCString()}${fields}${endOfHead}`);
  const closeSoon = (): void => {
    setTimeout(() => {
      if (request._state === ENDING) res.close();
    }, CLOSE_AFTER_MS);
  };
  // The rest of an upload is read and discarded, because a client that still sends would see a reset.
  if (request._uploading) request._upload!.discard(LINGER_MS, closeSoon);
  else closeSoon();
};

/** Answers a request whose body is still arriving. */
const endEarly = (request: UwsRequest, line: string, fields: string, body: Body): void => {
  const text = body ?? '';
  if (typeof text !== 'string') {
    discard(body);
    throw new TypeError('Only a text can answer a request whose body is still arriving');
  }
  const length = text === '' ? 0 : Buffer.byteLength(text) + 2;
  endConnection(request, line, `${fields}\r\ncontent-length: ${length}`, text);
};

/**
 * Completes a response without a body. Only a write of a body shows that the client does not read. A client could
 * therefore queue any number of such responses by sending many requests in one packet. After a limit per iteration of
 * the event loop, further responses are completed in the next iteration. uWS closes a connection on which a request
 * arrives before that.
 */
const endBodiless = (request: UwsRequest, end: () => void): void => {
  const server = request._server;
  if (server.bodiless === 0)
    setImmediate(() => {
      server.bodiless = 0;
    });
  if (++server.bodiless <= BODILESS_AT_ONCE) {
    end();
    done(request);
    return;
  }
  const res = request._res;
  request._onAbort = () => release(request);
  res.onAborted(() => aborted(request));
  setImmediate(() => {
    if (request._state !== WAITING) return;
    res.cork(end);
    done(request);
  });
};

/** Writes a response. Call it in the uWS callback or a cork. It throws only while nothing has been written. */
const respond = (request: UwsRequest, response: Response): void => {
  const { status, statusText, headers, body } = toParts(response);
  const res = request._res;
  const line = status === 200 && !statusText ? '200 OK' : statusLine(status, statusText);
  let close = request._last || request._server.closing;
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

  if (request._uploading) {
    if (binary) throw new TypeError('Only ASCII headers can answer a request whose body is still arriving');
    endEarly(request, line, first === '' ? '' : `\r\n${first}: ${rest}`, body);
    return;
  }
  if (request.method === 'HEAD' || status === 204 || status === 304) {
    discard(body);
    if (declared < 0 && typeof body === 'string') declared = Buffer.byteLength(body);
    else if (declared < 0 && body instanceof Uint8Array) declared = body.byteLength;
    const length = declared >= 0 && status !== 204 && status !== 304 ? String(declared) : '';
    if (request._last && !binary) {
      const fields = first === '' ? '' : `\r\n${first}: ${rest}`;
      endConnection(request, line, length === '' ? fields : `${fields}\r\ncontent-length: ${length}`, '');
      return;
    }
    endBodiless(request, () => {
      writeHead(res, line, first, encoded);
      if (length !== '') res.writeHeader('content-length', length);
      if (close) res.writeHeader('connection', 'close');
      res.endWithoutBody();
    });
  } else if (body == null || body === '' || status === 205) {
    discard(body);
    endBodiless(request, () => {
      writeHead(res, line, first, encoded);
      res.end('', close);
    });
  } else if (typeof body === 'string' || body instanceof Uint8Array) {
    writeHead(res, line, first, encoded);
    if (close && (request._last || body.length <= DIRECT_BODY)) {
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

const faultParts = (server: UwsServer, status: number, limit?: number): Fault => {
  try {
    const made = server.faultResponse?.(status, limit);
    if (made && Object.values(made.headers).every((value) => PLAIN_VALUE.test(value))) return made;
  } catch {
    // The fault itself must still be answered.
  }
  return { headers: {}, body: '' };
};

/** Answers a fault. Call it in the uWS callback or a cork. With `close`, no request behind it runs. */
export const fault = (request: UwsRequest, status: number, close: boolean, limit?: number): void => {
  const res = request._res;
  if (request._upload !== null) request._upload.reopen();
  const { headers, body } = faultParts(request._server, status, limit);
  const line = STATUS_LINE[status] ?? `${status} Fault`;
  let fields = status === 503 ? '\r\nretry-after: 1' : '';
  for (const [name, value] of Object.entries(headers)) fields += `\r\n${name}: ${value}`;
  if (close || request._uploading) {
    const length = body === '' ? 0 : Buffer.byteLength(body) + 2;
    endConnection(request, line, `${fields}\r\ncontent-length: ${length}`, request.method === 'HEAD' ? '' : body);
    return;
  }
  res.writeStatus(line);
  for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value);
  if (request.method === 'HEAD') {
    if (body !== '') res.writeHeader('content-length', String(Buffer.byteLength(body)));
    res.endWithoutBody();
  } else res.end(body);
  done(request);
};

export const answer = (request: UwsRequest, response: Response): void => {
  if (request._upload !== null) request._upload.reopen();
  try {
    respond(request, response);
  } catch {
    if (request._state === WAITING) fault(request, 500, request._server.closing);
  }
};
