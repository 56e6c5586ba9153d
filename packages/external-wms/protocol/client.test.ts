import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { openLog, openMetrics, type Setting, traceOf, withTrace } from '@tradepost/runtime';
import {
  type Behaviour,
  json,
  type Received,
  raw,
  startWarehouseServer,
} from '@tradepost/testing/servers/warehouse-server';
import { afterEach, describe, expect, test } from 'vitest';
import { type ExternalAction, type ExternalClient, openExternalClient } from './client.ts';
import { externalCodes } from './codes.ts';

const secret = 'the-secret-of-the-shop';
const closers: (() => Promise<unknown>)[] = [];
const logged: string[] = [];
const messages: string[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  // In every test: logs and messages contain no secret and no signature.
  const text = [...logged.splice(0), ...messages.splice(0)].join('\n');
  expect(text).not.toContain(secret);
  expect(text).not.toMatch(/[0-9a-f]{64}/i);
});

async function partnerThat(behaviour?: Behaviour) {
  const partner = await startWarehouseServer(behaviour);
  closers.push(() => partner.close());
  return partner;
}

/** A client with its settings, which a test may change while the client runs. */
function open(endpoint: string, values: Record<string, unknown> = {}) {
  const given: Record<string, unknown> = {
    'external_wms.endpoint': endpoint,
    'external_wms.app_key': 'shop-1',
    'external_wms.app_secret': secret,
    'external_wms.timeout_ms': 5_000,
    ...values,
  };
  const settings = {
    get: <T>(of: Setting<T>): T => (of.key in given ? of.schema.parse(given[of.key]) : of.fallback),
  };
  const log = openLog({ level: 'trace', stream: { write: (line: string) => logged.push(line) } });
  const metrics = openMetrics();
  const client = openExternalClient({ settings: settings as never, log, metrics });
  closers.push(() => client.close());
  const call: ExternalClient['call'] = async (...args) => {
    const outcome = await client.call(...args);
    messages.push(outcome.message);
    return outcome;
  };
  const confirm = (requestId = 'order:O1:confirm', options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
    call('confirm', { biz_type: 'order', biz_no: 'O1' }, { requestId, ...options });
  return { client, call, confirm, given, metrics };
}

/** Waits until a connection is free again after its answer. */
const connectionFree = async () => {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('a call that may have been read does not count as unsent when its repeat cannot connect', async () => {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    if (calls === 1) return void response.end('{"code":0}');
    // The server reads the call and then stops.
    request.resume().once('end', () => {
      server.close();
      request.socket.resetAndDestroy();
    });
  });
  closers.push(async () => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { confirm } = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect((await confirm()).kind).toBe('success');
  await connectionFree();
  const outcome = await confirm();
  expect(calls).toBe(2);
  expect(outcome).toMatchObject({ kind: 'retry', code: null });
  expect(outcome).not.toHaveProperty('unsent');
  // A call to a stopped server was not sent.
  expect(await confirm()).toMatchObject({ kind: 'retry', unsent: true });
});

const headersOf = ({ rawHeaders }: Received): [string, string][] =>
  rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]!] as [string, string]] : []));

describe('the seven calls', () => {
  const order = { biz_type: 'order', biz_no: 'O202603010001' };
  const items = [{ sku_id: 7, qty: 2 }];
  const calls: [ExternalAction, string, Record<string, unknown>][] = [
    ['reserve', '/reserve', { ...order, items }],
    ['confirm', '/confirm', order],
    ['release', '/release', { ...order, reason: '顾客取消 "测试" \u2028 😀' }],
    ['deduct', '/deduct', { ...order, items }],
    ['restore', '/restore', { ...order, reason: 'returned', items }],
    ['sync_sku', '/sync-sku', { biz_type: 'sku', biz_no: '7', sku_id: 7, stock: 12 }],
    ['stock/sellable', '/stock/sellable', { sku_ids: [7, 8] }],
  ];

  test.each(calls)('%s is a signed POST to %s', async (action, path, body) => {
    const partner = await partnerThat(json({ code: 0, message: 'ok', data: [{ a: 1 }] }));
    const { call } = open(partner.url);
    const before = Math.floor(Date.now() / 1000);
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const outcome = await withTrace(traceOf(`00-${trace}-00f067aa0ba902b7-01`), () =>
      call(action, body, { requestId: `r:${action}` }),
    );
    expect(outcome).toEqual({ kind: 'success', code: 0, message: 'ok', data: [{ a: 1 }] });

    const [got] = partner.calls;
    expect([got!.method, got!.path]).toEqual(['POST', path]);
    expect(JSON.parse(got!.body.toString('utf8'))).toEqual({ ...body, request_id: `r:${action}` });
    const headers = headersOf(got!);
    const timestamp = got!.headers['x-timestamp'] as string;
    const nonce = got!.headers['x-nonce'] as string;
    // The signature by the rule of the contract, over the received bytes.
    const sign = createHash('sha256')
      .update(Buffer.concat([Buffer.from(`shop-1\n${timestamp}\n${nonce}\n`), got!.body, Buffer.from(`\n${secret}`)]))
      .digest('hex');
    const transport = ['host', 'connection', 'content-length'];
    expect(headers.filter(([name]) => !transport.includes(name.toLowerCase()))).toEqual([
      ['Content-Type', 'application/json'],
      ['X-App-Key', 'shop-1'],
      ['X-Timestamp', timestamp],
      ['X-Nonce', nonce],
      ['X-Sign', sign],
      ['X-Request-Mode', 'generic'],
      ['Idempotency-Key', `r:${action}`],
      ['traceparent', expect.stringMatching(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))],
    ]);
    expect(got!.headers['content-length']).toBe(String(got!.body.length));
    expect(timestamp).toMatch(/^\d{10}$/);
    expect(Number(timestamp)).toBeGreaterThanOrEqual(before);
    expect(Number(timestamp)).toBeLessThanOrEqual(Date.now() / 1000);
    expect(nonce.length).toBeGreaterThanOrEqual(32);
  });

  test('every call has a new nonce', async () => {
    const partner = await partnerThat();
    const { confirm } = open(partner.url);
    await Promise.all(Array.from({ length: 200 }, () => confirm()));
    expect(new Set(partner.calls.map(({ headers }) => headers['x-nonce'])).size).toBe(200);
  });

  test.each(['/erp/wms', '/erp/wms/', '/erp/wms//'])(
    'go to paths below the path of the endpoint: %s',
    async (prefix) => {
      const partner = await partnerThat();
      const { confirm } = open(partner.url + prefix);
      expect((await confirm()).kind).toBe('success');
      expect(partner.calls[0]!.path).toBe('/erp/wms/confirm');
    },
  );

  test('are counted by action and result', async () => {
    const partner = await partnerThat();
    const { confirm, metrics } = open(partner.url);
    await confirm();
    partner.behave = json({ code: 4003 });
    await confirm();
    partner.behave = json({ code: 1001 });
    await confirm();
    const text = await metrics.registry.metrics();
    for (const result of ['success', 'refused', 'retry'])
      expect(text).toContain(`external_wms_calls_total{action="confirm",result="${result}"} 1`);
    expect(text).toContain('external_wms_call_seconds_count{action="confirm"} 3');
  });
});

describe('connections', () => {
  test('are kept: consecutive calls reuse a connection', async () => {
    const partner = await partnerThat();
    const { confirm } = open(partner.url);
    for (let i = 0; i < 20; i += 1) expect((await confirm()).kind).toBe('success');
    // A call in the same event-loop iteration may find the first connection not free yet.
    expect(partner.sockets).toBeLessThanOrEqual(2);
  });

  test('are bounded: calls of a burst wait for a connection', async () => {
    const partner = await partnerThat((_call, response) => {
      setImmediate(() => response.end('{"code":0}'));
    });
    const { confirm } = open(partner.url);
    const outcomes = await Promise.all(Array.from({ length: 300 }, () => confirm()));
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['success']));
    expect(partner.sockets).toBeLessThanOrEqual(64);
  });

  test('a call is repeated when the partner closes a kept connection at the same moment', async () => {
    const partner = await partnerThat((call, response) => {
      if (call.numberOnSocket === 1) response.end('{"code":0}');
      else call.socket.destroy();
    });
    const { confirm } = open(partner.url);
    await confirm('order:O1:confirm');
    await connectionFree();
    expect((await confirm('order:O2:confirm')).kind).toBe('success');
    const [, first, repeat] = partner.calls;
    expect(partner.calls).toHaveLength(3);
    expect(repeat!.body.equals(first!.body)).toBe(true);
    expect(repeat!.headers['idempotency-key']).toBe(first!.headers['idempotency-key']);
    // With the same nonce, a partner that has read the first call would refuse the repeat as a replay.
    expect(repeat!.headers['x-nonce']).not.toBe(first!.headers['x-nonce']);
  });

  test('a call is repeated once: a partner that always closes gets no third call', async () => {
    const partner = await partnerThat(json({ code: 0 }));
    const { confirm } = open(partner.url);
    await Promise.all([confirm(), confirm()]);
    await connectionFree();
    partner.behave = (call) => call.socket.destroy();
    expect(await confirm()).toMatchObject({ kind: 'retry', code: null, message: /closed|reset/ });
    expect(partner.calls).toHaveLength(4);
  });

  test('a new connection that is closed is a failed call', async () => {
    const partner = await partnerThat((call) => call.socket.destroy());
    const { confirm } = open(partner.url);
    expect(await confirm()).toMatchObject({ kind: 'retry', code: null });
    expect(partner.calls).toHaveLength(1);
  });

  test('a call is not repeated when the connection closes during the answer', async () => {
    const partner = await partnerThat();
    const { confirm } = open(partner.url);
    await confirm();
    await connectionFree();
    partner.behave = ({ socket }, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"code":0', () => socket.destroy());
    };
    expect(await confirm()).toMatchObject({ kind: 'retry', code: null });
    expect(partner.calls).toHaveLength(2);
  });

  test('the next call goes to a changed endpoint, and the old connections are closed', async () => {
    const held = Promise.withResolvers<void>();
    const [old, next] = [await partnerThat(), await partnerThat(json({ code: 0, message: 'new' }))];
    const { confirm, given } = open(old.url);
    await Promise.all([confirm(), confirm()]);
    old.behave = (_call, response) => void held.promise.then(() => response.end('{"code":0,"message":"old"}'));
    const underWay = confirm();
    await old.received(3);
    given['external_wms.endpoint'] = `${next.url}/v2`;
    expect(await confirm()).toMatchObject({ message: 'new' });
    expect(next.calls[0]!.path).toBe('/v2/confirm');
    held.resolve();
    expect(await underWay).toMatchObject({ kind: 'success', message: 'old' });
    await expect.poll(() => old.connections.size).toBe(0);
    expect(old.calls).toHaveLength(3);
  });

  test('app key and path are also read with every call', async () => {
    const partner = await partnerThat();
    const { confirm, given } = open(partner.url);
    await confirm();
    await connectionFree();
    Object.assign(given, { 'external_wms.app_key': 'shop-2', 'external_wms.endpoint': `${partner.url}/b` });
    await confirm();
    expect(partner.calls.map(({ path, headers }) => [path, headers['x-app-key']])).toEqual([
      ['/confirm', 'shop-1'],
      ['/b/confirm', 'shop-2'],
    ]);
    expect(partner.sockets).toBe(1);
  });

  test('close aborts calls that hang, and nothing is sent afterwards', async () => {
    const partner = await partnerThat(() => {});
    const { client, confirm } = open(partner.url, { 'external_wms.timeout_ms': 60_000 });
    const hanging = confirm();
    await partner.received(1);
    await client.close();
    expect(await hanging).toMatchObject({ kind: 'retry', code: null, message: /being stopped/ });
    expect(await confirm()).toMatchObject({ kind: 'retry', message: 'this process is being stopped' });
    expect(partner.calls).toHaveLength(1);
    await expect.poll(() => partner.connections.size).toBe(0);
  });
});

describe('a code of the partner', () => {
  // The table of the contract: code, retried.
  const table: [number, boolean][] = [
    [1001, true],
    [1002, true],
    [1003, true],
    [2001, true],
    [4001, false],
    [4002, false],
    [4003, false],
    [4004, false],
    [5000, true],
    [5001, true],
    [5002, true],
  ];
  const unknown: [number, boolean][] = [1, 200, 400, 500, 1000, 1004, 2000, 2002, 4000, 4999, 5003, -1, -5000].map(
    (code) => [code, false],
  );

  test.each([...table, ...unknown])('%i: retried %s', async (code, retried) => {
    const partner = await partnerThat(json({ code, message: 'because' }));
    const { confirm } = open(partner.url);
    expect(await confirm()).toEqual({ kind: retried ? 'retry' : 'refused', code, message: 'because' });
    expect(partner.calls).toHaveLength(1);
  });

  test.each([
    [{ code: 4003, msg: 'no stock' }, 'no stock'],
    [{ code: 4003, message: '', msg: 'no stock' }, 'no stock'],
    [{ code: 4003, message: { text: 'no' }, msg: 7 }, 'insufficient stock'],
    [{ code: 4003 }, 'insufficient stock'],
    [{ code: 4711 }, 'code 4711'],
    [{ code: 0 }, 'success'],
    [{ code: 4004, message: ' a\0b\r\nc\u001b[2J ' }, 'a b c [2J'],
    [{ code: 4004, message: 'x\ud800y' }, 'x\ufffdy'],
    [{ code: 4004, message: '缺'.repeat(600) }, '缺'.repeat(500)],
    [{ code: 4004, message: `${'x'.repeat(499)}😀` }, 'x'.repeat(499)],
    [{ code: 4002, message: `wrong key ${secret}!` }, 'wrong key ***!'],
    [{ code: 4002, message: `${'x'.repeat(490)} ${secret}` }, `${'x'.repeat(490)} ***`],
  ])('has its message made storable: %j', async (answer, message) => {
    const partner = await partnerThat(json(answer));
    const { confirm } = open(partner.url);
    expect((await confirm()).message).toBe(message);
  });

  test.each(externalCodes)('$code without a message is called $meaning', async ({ code, meaning }) => {
    const partner = await partnerThat(json({ code }));
    const { confirm } = open(partner.url);
    expect((await confirm()).message).toBe(meaning);
  });

  test('a signature that the partner quotes is masked', async () => {
    const partner = await partnerThat((call, response) => {
      const message = `expected ${'0A'.repeat(32)}, got ${call.headers['x-sign']}`;
      response.end(JSON.stringify({ code: 4002, message }));
    });
    const { confirm } = open(partner.url);
    expect(await confirm()).toMatchObject({ kind: 'refused', code: 4002, message: 'expected ***, got ***' });
  });

  test.each([
    ['ours', 'order:O1:confirm', 'success'],
    ['none', undefined, 'success'],
    ['null', null, 'success'],
    ['empty', '', 'success'],
    ['that of another call', 'order:O2:confirm', 'retry'],
    ['a number', 12, 'retry'],
  ])('with the request_id %s', async (_name, request_id, kind) => {
    const partner = await partnerThat(json({ code: 0, request_id }));
    const { confirm } = open(partner.url);
    expect((await confirm('order:O1:confirm')).kind).toBe(kind);
  });

  test('the refusal of another call counts as no answer', async () => {
    const partner = await partnerThat(json({ code: 4003, request_id: 'order:O2:confirm' }));
    const { confirm } = open(partner.url);
    expect(await confirm()).toMatchObject({ kind: 'retry', code: null, message: /another call/ });
  });
});

describe('an answer that is not of the protocol is retried', () => {
  const secretPage = `<html><body>${'Bad gateway '.repeat(50)}</body></html>`;
  const cases: [string, Behaviour, RegExp][] = [
    ['a page', raw(secretPage, 200, { 'content-type': 'text/html' }), /not JSON/],
    ['nothing', raw(''), /not JSON/],
    ['no content', raw('', 204, {}), /not JSON/],
    ['truncated JSON', raw('{"code":0,"message":"o'), /not JSON/],
    ['two answers', raw('{"code":0}{"code":0}'), /not JSON/],
    ['an array', json([{ code: 0 }]), /no integer code/],
    ['null', json(null), /no integer code/],
    ['text', json('0'), /no integer code/],
    ['no code', json({ message: 'ok' }), /no integer code/],
    ['code "0"', json({ code: '0' }), /no integer code/],
    ['code "4003"', json({ code: '4003' }), /no integer code/],
    ['code null', json({ code: null }), /no integer code/],
    ['code true', json({ code: true }), /no integer code/],
    ['code 1.5', json({ code: 1.5 }), /no integer code/],
    ['code 1e400', raw('{"code":1e400}'), /no integer code/],
    ['code 1e300', raw('{"code":1e300}'), /no integer code/],
    ['HTTP 500 with success', json({ code: 0, message: 'fine' }, 500), /^HTTP 500 \(code 0: fine\)$/],
    ['HTTP 400 with a refusal', json({ code: 4001, msg: 'bad' }, 400), /^HTTP 400 \(code 4001: bad\)$/],
    ['HTTP 502 with a page', raw(secretPage, 502, { 'content-type': 'text/html' }), /^HTTP 502$/],
    ['HTTP 300', json({ code: 0 }, 300), /^HTTP 300/],
    ['a giant answer', raw(`{"code":0,"data":"${'x'.repeat(1024 * 1024)}"}`), /larger than 1 MiB/],
    [
      'an endless answer',
      (_call, response) => {
        const more = () => {
          if (!response.destroyed && response.write('x'.repeat(65_536))) setImmediate(more);
        };
        response.on('drain', more);
        more();
      },
      /larger than 1 MiB/,
    ],
    ['a reset', ({ socket }) => socket.resetAndDestroy(), /reset|closed/],
    ['a closed socket', ({ socket }) => socket.destroy(), /closed|reset/],
    [
      'an answer cut off',
      ({ socket }, response) => {
        response.writeHead(200, { 'content-length': '50' });
        response.write('{"code":0', () => socket.destroy());
      },
      /closed|reset/,
    ],
    ['no HTTP', ({ socket }) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'), /not HTTP/],
  ];

  test.each(cases)('%s', async (_name, behaviour, message) => {
    const partner = await partnerThat(behaviour);
    const { confirm } = open(partner.url);
    const outcome = await confirm();
    expect(outcome).toEqual({ kind: 'retry', code: null, message: expect.stringMatching(message) });
    expect(outcome.message.length).toBeLessThan(100);
    expect(logged.join('')).not.toContain('Bad gateway');
    // The next call works.
    partner.behave = json({ code: 0 });
    expect((await confirm()).kind).toBe('success');
  });

  test('an answer of exactly 1 MiB is accepted', async () => {
    const frame = '{"code":0,"data":""}';
    const partner = await partnerThat(raw(frame.replace('""', `"${'x'.repeat(1024 * 1024 - frame.length)}"`)));
    const { confirm } = open(partner.url);
    expect((await confirm()).kind).toBe('success');
  });

  test('a redirect is not followed, because the signed call would go to another server', async () => {
    const other = await partnerThat();
    const partner = await partnerThat((_call, response) => {
      response.writeHead(302, { location: `${other.url}/confirm` }).end();
    });
    const { confirm } = open(partner.url);
    expect(await confirm()).toEqual({ kind: 'retry', code: null, message: 'HTTP 302' });
    expect(other.calls).toHaveLength(0);
  });
});

describe('a partner that cannot be reached', () => {
  test('because no server listens', async () => {
    const partner = await startWarehouseServer();
    await partner.close();
    const { confirm } = open(partner.url);
    expect(await confirm()).toMatchObject({ kind: 'retry', code: null, message: /^connection refused/ });
  });

  test('because its name does not exist', async () => {
    // A resolver may be slow: the deadline includes it.
    const { confirm } = open('http://warehouse.invalid', { 'external_wms.timeout_ms': 500 });
    expect(await confirm()).toMatchObject({ kind: 'retry', code: null });
  });

  test('because it speaks no TLS', async () => {
    const partner = await partnerThat();
    const { confirm } = open(partner.url.replace('http:', 'https:'));
    expect(await confirm()).toMatchObject({ kind: 'retry', code: null, message: /the call failed \((ERR_SSL|EPROTO)/ });
    expect(partner.calls).toHaveLength(0);
  });

  test('because its address is not set', async () => {
    const { confirm } = open('');
    expect(await confirm()).toMatchObject({ kind: 'retry', message: 'external_wms.endpoint is not set' });
  });

  test('because the app key cannot be a header', async () => {
    const partner = await partnerThat();
    const { confirm } = open(partner.url, { 'external_wms.app_key': '商店' });
    expect(await confirm()).toMatchObject({ kind: 'retry', code: null, message: /app key/ });
  });
});

describe('the deadline includes the whole call', () => {
  const hanging: [string, Behaviour][] = [
    ['never answers', () => {}],
    ['stops after the head', (_call, response) => void response.writeHead(200).flushHeaders()],
    [
      'drips its answer',
      (_call, response) => {
        const timer = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(timer));
      },
    ],
    [
      'drips an error',
      (_call, response) => {
        response.writeHead(500);
        const timer = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ];

  test.each(hanging)('a call to a partner that %s ends at the deadline', async (_name, behaviour) => {
    const partner = await partnerThat(behaviour);
    const { confirm } = open(partner.url, { 'external_wms.timeout_ms': 150 });
    expect(await confirm()).toEqual({ kind: 'retry', code: null, message: 'no answer within 150 ms' });
    // The connection is closed with the call, because a late answer must not count for the next call.
    await expect.poll(() => partner.calls[0]!.socket.destroyed).toBe(true);
    partner.behave = json({ code: 0 });
    expect((await confirm(undefined)).kind).toBe('success');
  });

  test('a handshake that hangs is included', async () => {
    const silent = createTcpServer((socket) => socket.resume().on('error', () => {}));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { client, confirm } = open(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`, {
      'external_wms.timeout_ms': 100,
    });
    expect(await confirm()).toEqual({ kind: 'retry', code: null, message: 'no answer within 100 ms' });
    await client.close();
    await new Promise((resolve) => silent.close(resolve));
  });

  test('a call may shorten the deadline and not extend it', async () => {
    const partner = await partnerThat(() => {});
    const { confirm } = open(partner.url, { 'external_wms.timeout_ms': 120 });
    expect((await confirm(undefined, { timeoutMs: 60 })).message).toBe('no answer within 60 ms');
    expect((await confirm(undefined, { timeoutMs: 60_000 })).message).toBe('no answer within 120 ms');
  });

  test('the caller may abort the call earlier', async () => {
    const partner = await partnerThat(() => {});
    const { confirm } = open(partner.url);
    const giveUp = new AbortController();
    const call = confirm(undefined, { signal: giveUp.signal });
    await partner.received(1);
    giveUp.abort();
    expect(await call).toEqual({ kind: 'retry', code: null, message: 'the call was given up' });
    await expect.poll(() => partner.calls[0]!.socket.destroyed).toBe(true);
    expect((await confirm(undefined, { signal: giveUp.signal })).message).toBe('the call was given up');
    expect(partner.calls).toHaveLength(1);
  });
});
