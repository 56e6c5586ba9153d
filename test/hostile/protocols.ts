import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attack.ts';
import { dial, inParallel, statusesOf } from './sockets.ts';

const lines = (...texts: string[]) => Buffer.from(`${texts.join('\r\n')}\r\n\r\n`, 'latin1');

/** The first bytes of a TLS 1.2 client. */
const tlsHello = Buffer.concat([Buffer.from('16030100c8010000c40303', 'hex'), Buffer.alloc(193, 7)]);

/** Bytes to send, with the statuses that may answer them. Without an answer the connection must end. */
const messages: readonly (readonly [name: string, bytes: Buffer, statuses: RegExp])[] = [
  ['TLS', tlsHello, /^4\d\d|505/],
  ['HTTP/2 with prior knowledge', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'), /^4\d\d|505/],
  ['a PROXY header', lines('PROXY TCP4 1.2.3.4 5.6.7.8 1 2', 'GET / HTTP/1.1', 'Host: a'), /^4\d\d|505/],
  ['SSH', Buffer.from('SSH-2.0-OpenSSH_9.0\r\n'), /^4\d\d|505/],
  ['random bytes', randomBytes(64 * 1024), /^4\d\d|505/],
  ['empty lines', Buffer.from('\r\n'.repeat(10_000)), /^4\d\d|505/],
  ['a request line without end', Buffer.from(`GET /${'a'.repeat(200_000)}`), /^4\d\d|505/],
  ['CONNECT', lines('CONNECT internal.example:443 HTTP/1.1', 'Host: internal.example:443'), /^4\d\d|505/],
  ['CONNECT with a path', lines('CONNECT /api/v1/products HTTP/1.1', 'Host: a'), /^4\d\d/],
  ['TRACE', lines('TRACE / HTTP/1.1', 'Host: a', 'X-Secret: do-not-echo'), /^4\d\d|501/],
  ['an absolute target', lines('GET http://internal.example/api/v1/products HTTP/1.1', 'Host: a'), /^200|4\d\d|505/],
  ['an asterisk', lines('GET * HTTP/1.1', 'Host: a'), /^4\d\d|505/],
  ['HTTP/1.0', lines('GET /health HTTP/1.0'), /^200|4\d\d|505/],
  ['HTTP/0.9', Buffer.from('GET /health\r\n'), /^4\d\d|505/],
  ['HTTP/1.1 in lower case', lines('GET /health http/1.1', 'Host: a'), /^4\d\d|505/],
  ['a method of odd bytes', Buffer.from('G\xcbT /health HTTP/1.1\r\nHost: a\r\n\r\n', 'latin1'), /^4\d\d|505/],
  ['a method of 5,000 letters', lines(`${'M'.repeat(5_000)} / HTTP/1.1`, 'Host: a'), /^4\d\d|501|505/],
  [
    'WebSocket',
    lines(
      ...['GET /health HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket'],
      ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
    ),
    /^200|4\d\d/,
  ],
  [
    'HTTP/2 by upgrade',
    lines(
      'GET /health HTTP/1.1',
      'Host: a',
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
    ),
    /^200|4\d\d/,
  ],
  ['a path out of the folder', lines('GET /docs/../../package.json HTTP/1.1', 'Host: a'), /^4\d\d/],
  ['the same, encoded', lines('GET /docs/%2e%2e%2f%2e%2e%2fpackage.json HTTP/1.1', 'Host: a'), /^4\d\d/],
  ['a path with NUL', lines('GET /docs/%00 HTTP/1.1', 'Host: a'), /^4\d\d/],
  ['a broken escape', lines('GET /api/v1/products/%zz HTTP/1.1', 'Host: a'), /^200|4\d\d/],
];

/** Time in which a server must close a connection without a valid request. */
const givenUpMs = 16_000;

/** Bytes that are not an HTTP/1.1 request are refused or the connection ends. They never run as another request. */
export const protocols: Attack = {
  name: 'protocols',
  about: 'TLS, HTTP/2, WebSocket, CONNECT, TRACE, HTTP/1.0, unusual targets and random bytes on both ports',
  transports: 'each',
  waits: true,
  async run(attackRun) {
    const { target, size } = attackRun;
    const asked = [target.api.port, target.gateway.port].flatMap((port) =>
      messages.map(([name, bytes, statuses]) => ({ port, name, bytes, statuses })),
    );
    await inParallel(asked, asked.length, async ({ port, name, bytes, statuses }) => {
      const what = `${name} on the ${port === target.api.port ? 'API' : 'gateway'}`;
      const connection = await dial(port);
      connection.send(bytes);
      attackRun.sent(1);
      await connection.until((text) => statusesOf(text).length > 0, size === 'long' ? givenUpMs : 1_500);
      await sleep(50);
      const text = connection.received();
      const [status] = statusesOf(text);
      if (/^HTTP\/1.1 101/.test(text)) attackRun.fault(`${what}: the protocol was switched`);
      else if (text.includes('do-not-echo')) attackRun.fault(`${what}: the answer contains the request`);
      else if (status !== undefined && !statuses.test(String(status))) attackRun.fault(`${what}: answered ${status}`);
      else if (status === undefined && !connection.closed() && size === 'long')
        attackRun.fault(`${what}: neither answered nor closed within ${givenUpMs / 1000} s`);
      connection.destroy();
    });
  },
};
