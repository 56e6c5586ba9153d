import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FastResponse } from 'srvx';
import { afterEach, describe, expect, test } from 'vitest';
import { serveNode } from './node/node-transport.ts';
import type { Transport } from './transport.ts';
import { serveUws } from './uws/uws-transport.ts';

const servers: Transport[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.close(200)));
});

const behind = 'GET /behind HTTP/1.1\r\nHost: a\r\n\r\n';
const head = (framing: string, method = 'POST') => `${method} /a HTTP/1.1\r\nHost: a\r\n${framing}\r\n`;
const chunked = (body: string) => `${head('Transfer-Encoding: chunked\r\n')}${body}`;

/** Framing that HTTP implementations read in different ways. Each is sent with a second request behind it. */
const ambiguous: Record<string, string> = {
  'two lengths': `${head('Content-Length: 3\r\nContent-Length: 4\r\n')}abc`,
  'the same length twice': `${head('Content-Length: 3\r\nContent-Length: 3\r\n')}abc`,
  'an empty length before a length': `${head('Content-Length: \r\nContent-Length: 3\r\n')}abc`,
  'GET, an empty length before a length': head('Content-Length: \r\nContent-Length: 31\r\n', 'GET'),
  'GET, two lengths': head('Content-Length: 0\r\nContent-Length: 31\r\n', 'GET'),
  'length and chunked': `${head('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n')}0\r\n\r\n`,
  'GET, length and chunked': `${head('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', 'GET')}0\r\n\r\n`,
  'GET, chunked': `${head('Transfer-Encoding: chunked\r\n', 'GET')}0\r\n\r\n`,
  'HEAD, chunked': `${head('Transfer-Encoding: chunked\r\n', 'HEAD')}0\r\n\r\n`,
  'GET, an empty encoding before chunked': `${head('Transfer-Encoding: \r\nTransfer-Encoding: chunked\r\n', 'GET')}`,
  'empty encoding': head('Transfer-Encoding: \r\n'),
  'encoding identity': head('Transfer-Encoding: identity\r\n'),
  'encoding xchunked': `${head('Transfer-Encoding: xchunked\r\n')}0\r\n\r\n`,
  'encoding chunked, chunked': `${head('Transfer-Encoding: chunked, chunked\r\n')}0\r\n\r\n`,
  'encoding gzip, chunked': `${head('Transfer-Encoding: gzip, chunked\r\n')}0\r\n\r\n`,
  'encoding chunked, identity': `${head('Transfer-Encoding: chunked, identity\r\n')}0\r\n\r\n`,
  'two encodings': `${head('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n')}0\r\n\r\n`,
  'encoding with a space before the colon': `${head('Transfer-Encoding : chunked\r\n')}0\r\n\r\n`,
  'encoding behind a vertical tab': `${head('Transfer-Encoding: \x0bchunked\r\n')}0\r\n\r\n`,
  'encoding between bytes of 0xff': `${head('Transfer-Encoding: \xffchunked\xff\r\n')}0\r\n\r\n`,
  'length behind a byte of 0xff': `${head('Content-Length: \xff3\r\n')}abc`,
  'empty length': head('Content-Length:\r\n'),
  'length 3x': `${head('Content-Length: 3x\r\n')}abc`,
  'length +3': `${head('Content-Length: +3\r\n')}abc`,
  'length -3': `${head('Content-Length: -3\r\n')}abc`,
  'length 3, 3': `${head('Content-Length: 3, 3\r\n')}abc`,
  'length 3 4': `${head('Content-Length: 3 4\r\n')}abc`,
  'length 0x3': `${head('Content-Length: 0x3\r\n')}abc`,
  'length over 64 bits': `${head('Content-Length: 18446744073709551619\r\n')}abc`,
  'GET, length over 64 bits': `${head('Content-Length: 18446744073709551619\r\n', 'GET')}abc`,
  'length with a space before the colon': `${head('Content-Length : 3\r\n')}abc`,
  'folded length': `${head('Content-Length:\r\n 3\r\n')}abc`,
  'folded header': head('X-A: b\r\n Content-Length: 3\r\n'),
  'folded encoding': `${head('Transfer-Encoding:\r\n chunked\r\n')}0\r\n\r\n`,
  'bare LF between lines': 'POST /a HTTP/1.1\nHost: a\nContent-Length: 3\n\nabc',
  'bare LF in a value': head('X-A: b\nContent-Length: 3\r\n'),
  'bare CR in a value': head('X-A: b\rContent-Length: 3\r\n'),
  'NUL in a value': head('X-A: b\0c\r\n'),
  'control character in a name': head('X\x01A: b\r\n'),
  'a header without a colon': head('XA\r\n'),
  'two hosts': head('Host: b\r\n', 'GET'),
  'no host': 'POST /a HTTP/1.1\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.0, chunked': 'POST /a HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'chunk size xyz': chunked('xyz\r\nabc\r\n0\r\n\r\n'),
  'chunk size 0x3': chunked('0x3\r\nabc\r\n0\r\n\r\n'),
  'chunk size +3': chunked('+3\r\nabc\r\n0\r\n\r\n'),
  'chunk size -3': chunked('-3\r\nabc\r\n0\r\n\r\n'),
  'chunk size behind a space': chunked(` 3\r\nabc\r\n0\r\n\r\n`),
  'chunk size before a space': chunked('3 \r\nabc\r\n0\r\n\r\n'),
  'empty chunk size': chunked(`\r\n${behind}\r\n0\r\n\r\n`),
  'chunk size over 64 bits': chunked('10000000000000003\r\nabc\r\n0\r\n\r\n'),
  'chunk size that ends in LF': chunked('3\nabc\r\n0\r\n\r\n'),
  'chunk size that ends in CR': chunked('3\rXabc\r\n0\r\n\r\n'),
  'chunk extension with LF': chunked('3;a\nxx\r\nabc\r\n0\r\n\r\n'),
  'chunk extension with CR': chunked('3;a\rxx\r\nabc\r\n0\r\n\r\n'),
  'chunk without its line end': chunked('3\r\nabcXX0\r\n\r\n'),
  'chunk that ends in LF': chunked('3\r\nabc\n0\r\n\r\n'),
  'chunk longer than its size': chunked('3\r\nabcdef\r\n0\r\n\r\n'),
  'a request as trailer': chunked('3\r\nabc\r\n0\r\nGET /trailer HTTP/1.1\r\nHost: a\r\n\r\n'),
  'last chunk that ends in LF': chunked('3\r\nabc\r\n0\r\n\n'),
};

/**
 * uWS takes these for an incomplete head and closes after 10 s. It sends no answer, and the application does not run.
 */
const unfinishedOnUws =
  /space before the colon|vertical tab|folded|bare LF in|bare CR|NUL|control character|without a colon|extension with/;
/** The chunk parser of uWS does not notice these. The request runs, and it is the last of its connection. */
const unseenByUws =
  /chunk size behind a space|chunk size before a space|empty chunk size|chunk size that ends in LF|chunk without its line end|chunk that ends in LF|a request as trailer|last chunk that ends in LF/;

describe.each([
  { name: 'uws' as const, serve: serveUws },
  { name: 'node' as const, serve: serveNode },
])('framing on $name', ({ name, serve }) => {
  const open = async (options: { maxBodyBytes?: number } = {}) => {
    const ran: string[] = [];
    const server = await serve({
      ...options,
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        ran.push(pathname);
        if (pathname === '/a') return request.text().then((text) => new FastResponse(`<${text}>`));
        return new FastResponse('ran');
      },
      faultResponse: (status) => ({ headers: { 'content-type': 'application/json' }, body: `{"fault":${status}}` }),
    });
    servers.push(server);
    const socket = connect(server.port, '127.0.0.1');
    sockets.push(socket);
    const state = { received: '', closed: false };
    socket.on('error', () => {});
    socket.on('data', (data) => {
      state.received += data.toString('latin1');
    });
    socket.on('close', () => {
      state.closed = true;
    });
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    const until = async (done: () => boolean) => {
      for (const end = performance.now() + 4000; !done() && performance.now() < end; ) await sleep(5);
    };
    const send = (text: string) => socket.write(Buffer.from(text, 'latin1'));
    return { server, ran, state, send, until, untilClosed: () => until(() => state.closed) };
  };

  describe.each(['in the same segment', 'in a later segment'])('with a request behind it %s', (where) => {
    test.each(Object.entries(ambiguous))(
      '%s: ends the connection, and the request behind never runs',
      async (what, bytes) => {
        const { ran, state, send, untilClosed } = await open();
        const unfinished = name === 'uws' && unfinishedOnUws.test(what);
        send(where === 'in the same segment' ? bytes + behind : bytes);
        if (where !== 'in the same segment') {
          await sleep(20);
          send(behind);
        }
        if (unfinished) await sleep(60);
        else await untilClosed();
        expect(ran).toEqual(name === 'uws' && unseenByUws.test(what) && ran.length > 0 ? ['/a'] : []);
        expect(state.closed).toBe(!unfinished);
        if (!unseenByUws.test(what)) expect(state.received).not.toContain('HTTP/1.1 200');
      },
    );
  });

  test('a refusal is a complete answer with the envelope and announces that the connection closes', async () => {
    for (const method of ['POST', 'HEAD']) {
      const { ran, state, send, untilClosed } = await open();
      send(head('Content-Length: 3\r\nContent-Length: 4\r\n', method));
      await untilClosed();
      expect(ran).toEqual([]);
      expect(state.received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(state.received.toLowerCase()).toContain('connection: close\r\n');
      const [fields = '', body = ''] = state.received.split('\r\n\r\n');
      if (name === 'node') continue;
      if (method === 'POST') expect(JSON.parse(body)).toEqual({ fault: 400 });
      else expect(body).toBe('');
      if (method === 'POST') expect(fields).toContain(`content-length: ${body.length}`);
    }
  });

  test.each(['GET', 'HEAD'])('the body of a %s is skipped, and the request behind it runs', async (method) => {
    const { ran, state, send, until } = await open();
    send(`${head(`Content-Length: ${behind.length}\r\n`, method)}${behind}`);
    await until(() => ran.length > 0);
    send('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => ran.length > 1);
    expect(ran).toEqual(['/a', '/next']);
    expect(state.closed).toBe(false);
  });

  test.each(['declared', 'chunked'])('no request behind a body that is too large runs, %s', async (how) => {
    const { ran, state, send, untilClosed } = await open({ maxBodyBytes: 10 });
    const body = 'x'.repeat(20);
    send(
      `${how === 'declared' ? head('Content-Length: 20\r\n') + body : chunked(`14\r\n${body}\r\n0\r\n\r\n`)}${behind}`,
    );
    await untilClosed();
    expect(ran).toEqual([]);
    expect(state.closed).toBe(true);
  });

  test('no request behind one that closes the connection runs', async () => {
    for (const value of ['close', 'keep-alive, Close']) {
      const { ran, send, untilClosed } = await open();
      send(`${head(`Connection: ${value}\r\n`, 'GET')}${behind}`);
      await untilClosed();
      expect(ran.filter((path) => path !== '/a')).toEqual([]);
    }
  });

  test('well-framed requests on one connection are all answered; a chunked one is the last', async () => {
    const { ran, state, send, until, untilClosed } = await open();
    send(`${head('Content-Length: 3\r\n')}abc`);
    await until(() => state.received.endsWith('<abc>'));
    send(`${head('Content-Length: 003\r\n')}def`);
    await until(() => state.received.endsWith('<def>'));
    send(chunked('3\r\nghi\r\n00002\r\njk\r\n0\r\n\r\n'));
    await until(() => state.received.endsWith('<ghijk>'));
    expect(state.received).toContain('<ghijk>');
    expect(ran).toEqual(['/a', '/a', '/a']);
    if (name === 'node') return;
    await untilClosed();
    expect(state.received.split('HTTP/1.1 200 OK').pop()?.toLowerCase()).toContain('connection: close');
  });
});
