import { connect } from 'node:net';
import { FastResponse } from 'srvx';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idempotencyKeyOf } from '../routing/idempotent.ts';
import { traceIdOf } from '../routing/trace.ts';
import { serveNode } from './node/node-transport.ts';
import type { Transport } from './transport.ts';
import { loadUws } from './uws/binary.ts';
import { serveUws } from './uws/uws-transport.ts';

const keyOrRefusal = (request: Request): string | null => {
  try {
    return idempotencyKeyOf(request);
  } catch (error) {
    return `refused: ${(error as { messageIn(locale: 'en'): string }).messageIn('en')}`;
  }
};

/** After an update of uWebSockets.js check whether the patch is still needed, and its offsets. */
test('the binary in use keeps all bytes of header values', async () => {
  expect((await loadUws()).keepsHeaderBytes).toBe(true);
});

describe.each([
  { name: 'uws' as const, serve: serveUws },
  { name: 'node' as const, serve: serveNode },
])('request headers on $name', ({ name, serve }) => {
  let server: Transport;
  beforeAll(async () => {
    server = await serve({
      fetch: (request) =>
        FastResponse.json({
          key: keyOrRefusal(request),
          token: request.headers.get('authorization'),
          trace: traceIdOf(request),
          host: new URL(request.url).host,
        }),
    });
  });
  afterAll(() => server.close(100));

  /** Sends header lines byte by byte. Returns null when the connection was closed without a 200. */
  const ask = async (lines: string): Promise<Record<string, string | null> | null> => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(Buffer.from(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`, 'latin1'));
    const parts: Buffer[] = [];
    socket.on('data', (data: Buffer) => parts.push(data));
    await new Promise((resolve) => socket.once('close', resolve));
    const text = Buffer.concat(parts).toString('latin1');
    return text.startsWith('HTTP/1.1 200') ? JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) : null;
  };

  test('a key of 1 to 255 visible ASCII characters is accepted unchanged', async () => {
    const visible = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('');
    for (const key of ['1', 'x'.repeat(255), visible])
      expect((await ask(`Idempotency-Key: ${key}\r\n`))?.key).toBe(key);
    expect((await ask(''))?.key).toBeNull();
  });

  test.each([
    ['empty', ''],
    ['of 256 characters', 'x'.repeat(256)],
    ['with a space', 'a b'],
    ['with a tab', 'a\tb'],
    ['with DEL', 'a\x7fb'],
    ['with Latin-1 in it', 'cl\xe9-1'],
    ['with UTF-8 in it', 'cl\xc3\xa9-1'],
    ['all of it UTF-8', '\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87'],
    ['all of it Latin-1', '\xe9\xe8'],
  ])('a key that is %s is refused by name, never shortened to another key', async (what, key) => {
    const answer = await ask(`Idempotency-Key: ${key}\r\n`);
    // Node:http refuses the whole request.
    if (name === 'node' && what === 'with DEL') expect(answer).toBeNull();
    else expect(answer?.key).toMatch(/^refused: .*Idempotency-Key/);
  });

  test.each(['order-\xc3\xa9', 'order-\xfc', '\xe9order', '\xe9order\xe9'])(
    'a key with other bytes at its ends is refused, so that two keys do not become one: %j',
    async (key) => {
      expect((await ask(`Idempotency-Key: ${key}\r\n`))?.key).toMatch(/^refused/);
    },
  );

  test.each([
    'Idempotency-Key: a\r\nIdempotency-Key: b\r\n',
    'Idempotency-Key: a\r\nIdempotency-Key: a\r\n',
    'Idempotency-Key: \r\nIdempotency-Key: b\r\n',
    'Idempotency-Key: a\r\nIdempotency-Key: \r\n',
  ])('two keys are refused, not joined: %j', async (lines) => {
    expect((await ask(lines))?.key).toMatch(/^refused: .*Idempotency-Key/);
  });

  test('two tokens or two trace ids are joined, so neither is valid', async () => {
    const answer = await ask(
      'Authorization: Bearer a\r\nAuthorization: Bearer b\r\nX-Request-Id: one\r\nX-Request-Id: two\r\n',
    );
    expect(answer?.token).toBe('Bearer a, Bearer b');
    expect(answer?.trace).not.toMatch(/one|two/);
  });
});
