import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { IncomingBody } from '../incoming-body.ts';
import { discard, toParts, toStream } from '../response-parts.ts';
import { LINGER_MS } from '../transport.ts';
import type { NodeServer } from './node-server.ts';
import { closingSockets } from './refuse.ts';

const DIGITS = /^\d+$/;
const NON_ASCII = /[^\0-\x7f]/;

/** The headers without those of the connection, which node:http sends itself, and the declared length of the body. */
const sentHeaders = (res: ServerResponse, headers: string[]): { sent: string[]; declared: string | undefined } => {
  const sent: string[] = [];
  let declared: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const lower = name.toLowerCase();
    const value = String(headers[i + 1]);
    if (lower === 'content-length') declared = DIGITS.test(value) ? value : undefined;
    else if (lower === 'connection') {
      if (value.toLowerCase() === 'close') res.shouldKeepAlive = false;
    } else if (lower !== 'transfer-encoding' && lower !== 'keep-alive') sent.push(name, value);
  }
  return { sent, declared };
};

/**
 * Reads the next chunk when the socket has taken the last one. Cuts the connection when the body has another length than
 * declared.
 */
const pump = (res: ServerResponse, reader: ReadableStreamDefaultReader<Uint8Array>, total: number): void => {
  let sent = 0;
  const cut = (): void => {
    reader.cancel().catch(() => {});
    res.destroy();
  };
  res.once('close', () => {
    if (!res.writableFinished) reader.cancel().catch(() => {});
  });
  const pull = (): void => {
    reader.read().then(({ done, value }) => {
      if (res.destroyed) return;
      if (!done && value instanceof Uint8Array && sent + value.byteLength <= total) {
        sent += value.byteLength;
        if (res.write(value)) pull();
        else res.once('drain', pull);
      } else if (done && (sent === total || total === Number.POSITIVE_INFINITY)) res.end();
      else cut();
    }, cut);
  };
  pull();
};

/**
 * Ends a response whose request body is still arriving. The rest is read and discarded, because a client that still sends
 * would see a reset.
 */
const endEarly = (res: ServerResponse, bytes: Uint8Array | undefined, upload: IncomingBody): void => {
  if (bytes === undefined) res.flushHeaders();
  else res.write(bytes);
  upload.discard(LINGER_MS, () => res.end());
};

/**
 * Sends a response. It throws only while nothing has been sent. With `upload`, a request body that is still arriving, the
 * connection closes after the response.
 */
export const respond = (
  server: NodeServer,
  res: ServerResponse,
  response: Response,
  upload: IncomingBody | null = null,
): void => {
  const { status, statusText, headers, body } = toParts(response);
  if (!(status >= 200 && status <= 599)) throw new RangeError(`Response status ${status} cannot be sent`);
  const { sent, declared } = sentHeaders(res, headers);
  if (server.closing || upload !== null) res.shouldKeepAlive = false;
  if (upload !== null) closingSockets.add(res.req.socket);
  const reason = statusText || STATUS_CODES[status] || 'Status';
  const bodiless = status === 204 || status === 304;
  if (
    bodiless ||
    status === 205 ||
    res.req.method === 'HEAD' ||
    body == null ||
    typeof body === 'string' ||
    body instanceof Uint8Array
  ) {
    // Converted to bytes: node writes head and text together in the encoding of the text, which damages Latin-1 header
    // values.
    const bytes = body instanceof Uint8Array ? body : typeof body === 'string' ? Buffer.from(body) : undefined;
    const length =
      status === 205 ? '0' : res.req.method === 'HEAD' ? (declared ?? bytes?.length) : (bytes?.length ?? 0);
    if (!bodiless && length !== undefined) sent.push('content-length', String(length));
    res.writeHead(status, reason, sent);
    discard(body);
    if (upload !== null) endEarly(res, bodiless || status === 205 ? undefined : bytes, upload);
    else if (bytes === undefined || bodiless || status === 205) res.end();
    else res.end(bytes);
    return;
  }
  if (upload !== null) {
    discard(body);
    throw new TypeError('Only a text can answer a request whose body is still arriving');
  }
  const reader = toStream(body).getReader();
  if (declared !== undefined) sent.push('content-length', declared);
  try {
    res.writeHead(status, reason, sent);
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
  // The head is sent now, as the first chunk may take long. Node would encode a head alone as UTF-8, which is wrong for
  // Latin-1 values.
  if (!sent.some((text) => NON_ASCII.test(text))) res.flushHeaders();
  pump(res, reader, declared === undefined ? Number.POSITIVE_INFINITY : Number(declared));
};
