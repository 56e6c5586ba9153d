/** One message whose end two parsers may find at different positions. */
export type Variant = {
  name: string;
  /**
   * refused: the connection must end with the answer, so that no request after it runs.
   * body: the message is valid. The hidden request is its body and must not run.
   */
  kind: 'refused' | 'body';
  /** Why it is not sent to uWebSockets.js. */
  beyondUws?: string;
  /** All bytes of the request; `hidden` is the smuggled request. */
  bytes(request: RequestParts, hidden: Buffer): Buffer;
};

type RequestParts = { path: string; body: string };

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const head = (path: string, lines: readonly string[], method = 'POST', version = 'HTTP/1.1') =>
  `${method} ${path} ${version}\r\nHost: shop.example\r\nContent-Type: application/json\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

/** Invalid header lines for the length of a body of five bytes. */
const lengths: readonly (readonly [name: string, ...lines: string[]])[] = [
  ['two Content-Length', 'Content-Length: 5', 'Content-Length: 6'],
  ['two Content-Length in one line', 'Content-Length: 5, 6'],
  ['Content-Length with a plus', 'Content-Length: +5'],
  ['negative Content-Length', 'Content-Length: -5'],
  ['hexadecimal Content-Length', 'Content-Length: 0x5'],
  ['Content-Length of two numbers', 'Content-Length: 5 5'],
  ['Content-Length with a comma', 'Content-Length: 5,'],
  ['Content-Length with an exponent', 'Content-Length: 5e0'],
  ['Content-Length in quotes', 'Content-Length: "5"'],
  ['Content-Length of 2^64 + 5', 'Content-Length: 18446744073709551621'],
  ['Content-Length of letters', 'Content-Length: five'],
  ['Content-Length with a vertical tab', 'Content-Length: 5\x0b'],
  ['a blank before the colon', 'Content-Length : 5'],
  ['a tab before the colon', 'Content-Length\t: 5'],
  ['a folded line', 'Content-Length:', ' 5'],
  ['a folded line after another header', 'X-Other: a', ' Content-Length: 5', 'Content-Length: 0'],
  ['NUL in a value', 'Content-Length: 5', 'X-Other: a\0b'],
  ['a bare CR in a value', 'X-Other: a\rTransfer-Encoding: chunked', 'Content-Length: 5'],
  ['a header without a colon', 'Content-Length: 5', 'X-Other'],
  ['a blank in a name', 'X Other: a', 'Content-Length: 5'],
];

/** Transfer codings that are not exactly `chunked`, before a body in chunks. */
const codings: readonly (readonly [name: string, ...lines: string[]])[] = [
  ['both framings', 'Content-Length: 4', 'Transfer-Encoding: chunked'],
  ['both framings, the other way round', 'Transfer-Encoding: chunked', 'Content-Length: 4'],
  ['Transfer-Encoding twice', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  ['chunked twice', 'Transfer-Encoding: chunked, chunked'],
  ['identity after chunked', 'Transfer-Encoding: chunked, identity'],
  ['an unknown coding', 'Transfer-Encoding: xchunked'],
  ['identity', 'Transfer-Encoding: identity'],
  ['chunked with a parameter', 'Transfer-Encoding: chunked;q=1'],
  ['chunked in quotes', 'Transfer-Encoding: "chunked"'],
  ['chunked after a vertical tab', 'Transfer-Encoding: \x0bchunked'],
  ['a blank before the colon of the coding', 'Transfer-Encoding : chunked'],
  ['a folded coding', 'Transfer-Encoding:', ' chunked'],
];

/** Chunked bodies that violate the chunk grammar. */
const chunks: readonly (readonly [name: string, body: string])[] = [
  ['a chunk size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['a chunk size with a plus', '+5\r\nhello\r\n0\r\n\r\n'],
  ['a negative chunk size', '-5\r\nhello\r\n0\r\n\r\n'],
  ['a chunk size of letters', 'G\r\nhello\r\n0\r\n\r\n'],
  ['an empty chunk size', '\r\nhello\r\n0\r\n\r\n'],
  ['a chunk size beyond 64 bits', 'ffffffffffffffff5\r\nhello\r\n0\r\n\r\n'],
  ['a chunk size with an underscore', '0_5\r\nhello\r\n0\r\n\r\n'],
  ['a blank before a chunk size', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['no line end after a chunk', '5\r\nhello0\r\n\r\n'],
  ['another line end after a chunk', '5\r\nhelloXX0\r\n\r\n'],
  ['a bare LF after a chunk size', '5\nhello\r\n0\r\n\r\n'],
];

const wrongHeads: readonly (readonly [name: string, head: (path: string) => string])[] = [
  ['a blank in the target', (path) => `POST ${path} x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`],
  ['another version', (path) => head(path, ['Content-Length: 0'], 'POST', 'HTTP/3.1')],
  ['chunks in HTTP/1.0', (path) => head(path, ['Transfer-Encoding: chunked'], 'POST', 'HTTP/1.0')],
  ['a blank before the first header', (path) => `POST ${path} HTTP/1.1\r\n Content-Length: 5\r\nHost: a\r\n\r\n`],
];

/** Methods and headers whose body a server may forget to read. */
const bodies: readonly (readonly [name: string, method: string, ...lines: string[]])[] = [
  ['the body of a GET', 'GET'],
  ['the body of a HEAD', 'HEAD'],
  ['the body of an OPTIONS', 'OPTIONS'],
  ['the body of a DELETE', 'DELETE'],
  ['the body of a TRACE', 'TRACE'],
  ['the body of an unknown method', 'PROPFIND'],
  ['the body of a POST that is refused', 'POST'],
  ['a body that was announced', 'POST', 'Expect: 100-continue'],
  ['the body of an upgrade to WebSocket', 'GET', 'Connection: Upgrade', 'Upgrade: websocket'],
  ['the body of an upgrade to HTTP/2', 'POST', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'],
];

export const variants: readonly Variant[] = [
  ...lengths.map(
    ([name, ...lines]): Variant => ({
      name,
      kind: 'refused',
      bytes: ({ path }, hidden) => Buffer.concat([latin1(`${head(path, lines)}hello`), hidden]),
    }),
  ),
  ...codings.map(
    ([name, ...lines]): Variant => ({
      name,
      kind: 'refused',
      bytes: ({ path }, hidden) => Buffer.concat([latin1(`${head(path, lines)}0\r\n\r\n`), hidden]),
    }),
  ),
  ...chunks.map(
    ([name, body]): Variant => ({
      name,
      kind: 'refused',
      bytes: ({ path }, hidden) =>
        Buffer.concat([latin1(`${head(path, ['Transfer-Encoding: chunked'])}${body}`), hidden]),
    }),
  ),
  ...wrongHeads.map(
    ([name, of]): Variant => ({
      name,
      kind: 'refused',
      bytes: ({ path }, hidden) => Buffer.concat([latin1(of(path)), hidden]),
    }),
  ),
  ...bodies.map(
    ([name, method, ...lines]): Variant => ({
      name,
      kind: 'body',
      bytes: ({ path }, hidden) =>
        Buffer.concat([latin1(head(path, [...lines, `Content-Length: ${hidden.length}`], method)), hidden]),
    }),
  ),
  {
    name: 'the length behind a header without a name',
    kind: 'refused',
    beyondUws: 'it ends its list of headers at the empty name, so it ignores the length and runs the body as a request',
    bytes: ({ path }, hidden) =>
      Buffer.concat([latin1(head(path, [': value', `Content-Length: ${hidden.length}`])), hidden]),
  },
  {
    name: 'a chunk of a GET',
    kind: 'body',
    bytes: ({ path }, hidden) =>
      Buffer.concat([
        latin1(`${head(path, ['Transfer-Encoding: chunked'], 'GET')}${hidden.length.toString(16)}\r\n`),
        hidden,
        latin1('\r\n0\r\n\r\n'),
      ]),
  },
  {
    name: 'a part of a body that is too large',
    kind: 'body',
    bytes: ({ path }, hidden) =>
      Buffer.concat([latin1(head(path, ['Content-Length: 100000000'])), Buffer.alloc(70_000, 0x20), hidden]),
  },
];
