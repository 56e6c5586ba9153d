import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { transportFault } from '../routing/envelope.ts';
import { httpErrors } from '../routing/errors.ts';
import { serveNode } from '../transports/node/node-transport.ts';
import type { Transport } from '../transports/transport.ts';
import { serveUws } from '../transports/uws/uws-transport.ts';
import type { ChannelLimits } from './channel-limits.ts';
import { type Channel, type ChannelDefinition, type ChannelSocket, defineChannel } from './define-channel.ts';
import { caller, dialRaw, frameOf, openTestApp, TestSocket, until } from './test-sockets.ts';

const receives = z.discriminatedUnion('type', [
  z.object({ type: z.literal('say'), text: z.string().max(100_000) }),
  z.object({ type: z.literal('slow'), ms: z.int().max(6_000) }),
  z.object({ type: z.literal('throw'), how: z.enum(['refusal', 'error', 'later']) }),
  z.object({ type: z.literal('leave') }),
  z.object({ type: z.literal('pour'), frames: z.int().max(100_000), bytes: z.int().max(100_000) }),
]);
const sends = z.discriminatedUnion('type', [
  z.object({ type: z.literal('said'), text: z.string() }),
  z.object({ type: z.literal('hello'), room: z.string(), id: z.int().nullable() }),
  z.object({ type: z.literal('poured'), sent: z.int() }),
]);
type Sent = z.input<typeof sends>;
type Definition = ChannelDefinition<
  'any' | 'public' | 'staff',
  typeof params,
  undefined,
  typeof receives,
  typeof sends
>;
const params = z.object({ room: z.string().min(1) });

type Log = {
  closed: { code: number; reason: string }[];
  sockets: ChannelSocket<Sent>[];
  drained: number;
  poured: { sent: number; queued: number }[];
};

/** Sends back each frame. `log` records the events that its handlers got. */
function echoChannel(limits: Partial<ChannelLimits> = {}, changes: Partial<Definition> = {}) {
  const log: Log = { closed: [], sockets: [], drained: 0, poured: [] };
  const channel = defineChannel({
    name: 'echo',
    path: '/ws/echo/:room',
    auth: 'public' as 'any' | 'public' | 'staff',
    summary: 'Sends back what it gets',
    tag: 'Test',
    params,
    receives,
    sends,
    binary: { receives: 'any bytes', sends: 'the same bytes' },
    limits,
    connect: ({ params: { room }, caller: account }) => {
      if (room === 'missing') throw httpErrors.unknown_route();
      if (room === 'broken') throw new Error('connect failed');
      return {
        open(socket) {
          if (room === 'broken-open') throw new Error('open failed');
          log.sockets.push(socket);
          socket.join(room);
          socket.send({ type: 'hello', room, id: account?.id ?? null });
        },
        async message(frame, socket) {
          if (frame.type === 'slow') await sleep(frame.ms);
          if (frame.type === 'say') socket.send({ type: 'said', text: frame.text });
          if (frame.type === 'leave') socket.close(4001, 'left');
          if (frame.type === 'throw' && frame.how === 'later') await sleep(5);
          if (frame.type === 'throw')
            throw frame.how === 'refusal' ? httpErrors.invalid_field({ reason: 'no' }) : new Error('handler failed');
          if (frame.type === 'pour') {
            const text = 'x'.repeat(frame.bytes);
            let sent = 0;
            for (let i = 0; i < frame.frames && socket.isOpen; i++) if (socket.send({ type: 'said', text })) sent += 1;
            log.poured.push({ sent, queued: socket.queuedBytes });
            socket.send({ type: 'poured', sent });
          }
        },
        binary: (bytes, socket) => void socket.sendBinary(bytes),
        drained: () => {
          log.drained += 1;
        },
        close: (end) => {
          log.closed.push(end);
        },
      };
    },
    ...changes,
  } as Definition);
  return { channel, log };
}

const transports: Transport[] = [];
const clients: TestSocket[] = [];
const raws: { destroy(): void }[] = [];
afterEach(async () => {
  for (const { ws } of clients.splice(0)) ws.terminate();
  for (const raw of raws.splice(0)) raw.destroy();
  await Promise.all(transports.splice(0).map((transport) => transport.close(200)));
});

describe.each([
  { name: 'uws' as const, serve: serveUws },
  { name: 'node' as const, serve: serveNode },
])('channels on $name', ({ name, serve }) => {
  const start = async (...channels: Channel[]) => {
    const made = openTestApp(channels);
    const { fetch, sockets } = made.app;
    const transport = await serve({ fetch, sockets, faultResponse: transportFault });
    transports.push(transport);
    const dial = (path = '/ws/echo/a', protocols: string[] = [], headers: Record<string, string> = {}) => {
      const client = new TestSocket(transport.url + path, protocols, { headers });
      clients.push(client);
      return client;
    };
    const raw = async (path = '/ws/echo/a') => {
      const dialled = await dialRaw(transport.port, path);
      raws.push(dialled.socket);
      return dialled;
    };
    return { ...made, transport, dial, raw, sockets: sockets! };
  };
  const echo = async (limits: Partial<ChannelLimits> = {}, changes: Partial<Definition> = {}) => {
    const { channel, log } = echoChannel(limits, changes);
    return { ...(await start(channel)), channel, log };
  };

  test('text and binary frames arrive complete and in order', async () => {
    const { dial, metric, log } = await echo({ frameBytes: 70_000 });
    const client = await dial('/ws/echo/r%C3%A4um').open();
    expect(await client.next(1)).toEqual({ type: 'hello', room: 'räum', id: null });
    const texts = ['', 'é 中文 😀', 'y'.repeat(65_000)];
    for (const text of texts) client.send({ type: 'say', text });
    client.ws.send(Buffer.from([0, 255, 1]));
    client.ws.send(Buffer.alloc(0));
    await client.next(6);
    expect(client.json().slice(1)).toEqual(texts.map((text) => ({ type: 'said', text })));
    expect(client.frames.slice(4)).toEqual([
      { data: Buffer.from([0, 255, 1]), binary: true },
      { data: Buffer.alloc(0), binary: true },
    ]);
    expect(await metric('websocket_open_sockets')).toEqual(['websocket_open_sockets{channel="/ws/echo/:room"} 1']);
    expect(await metric('websocket_frames_total')).toEqual([
      'websocket_frames_total{channel="/ws/echo/:room",direction="in"} 5',
      'websocket_frames_total{channel="/ws/echo/:room",direction="out"} 6',
      'websocket_frames_total{channel="/ws/echo/:room",direction="dropped"} 0',
    ]);
    client.ws.close(4321, 'bye');
    await until(() => log.closed.length > 0);
    expect(log.closed).toEqual([{ code: 4321, reason: 'client' }]);
    expect(await metric('websocket_closes_total')).toEqual([
      'websocket_closes_total{channel="/ws/echo/:room",code="other",reason="client"} 1',
    ]);
  });

  test('fragments are joined, with pings between them', async () => {
    const { raw } = await echo();
    const { socket, received } = await raw();
    const text = Buffer.from(JSON.stringify({ type: 'say', text: 'é in parts' }));
    const cut = text.indexOf(0xc3) + 1;
    socket.write(frameOf(text.subarray(0, cut), { opcode: 1, final: false }));
    socket.write(frameOf(Buffer.from('p'), { opcode: 9 }));
    socket.write(frameOf(text.subarray(cut, cut + 3), { opcode: 0, final: false }));
    socket.write(frameOf(text.subarray(cut + 3), { opcode: 0 }));
    await until(() => received().includes('{"type":"said","text":"é in parts"}'));
    expect(received().includes(Buffer.from([0x8a, 1, 0x70]))).toBe(true);
  });

  describe('authentication', () => {
    const auth = { auth: 'any' as const };

    test('the token is read from header, query or subprotocol', async () => {
      const { dial, callers } = await echo({}, auth);
      callers.set('t.o-k_1', caller(7));
      const ways = [
        dial('/ws/echo/a', [], { authorization: 'Bearer t.o-k_1' }),
        dial('/ws/echo/a?token=t.o-k_1'),
        dial('/ws/echo/a', ['tradepost', 'bearer.t.o-k_1']),
      ];
      for (const client of ways) {
        await client.open();
        expect((await client.next(1)).id).toBe(7);
      }
      expect(ways.map(({ ws }) => ws.protocol)).toEqual(['', '', 'tradepost']);
    });

    test('the token may come in the first frame, and nothing is handled before it', async () => {
      const { dial, callers, log } = await echo({ handshakeSeconds: 0.3 }, { ...auth, tokenFrom: ['first_frame'] });
      callers.set('good', caller(8));
      const client = await dial().open();
      client.send({ type: 'auth', token: 'good' });
      client.send({ type: 'say', text: 'at once' });
      await client.next(2);
      expect(client.json()).toEqual([
        { type: 'hello', room: 'a', id: 8 },
        { type: 'said', text: 'at once' },
      ]);
      const wrong = await dial().open();
      wrong.send({ type: 'auth', token: 'bad' });
      expect(await wrong.end()).toEqual({ code: 1008, reason: 'not_logged_in' });
      expect(wrong.json()[0]).toMatchObject({ type: 'error', code: 401 });
      const early = await dial().open();
      early.send({ type: 'say', text: 'no token' });
      expect(await early.end()).toEqual({ code: 1008, reason: 'not_logged_in' });
      const binary = await dial().open();
      binary.ws.send(Buffer.from([1]));
      expect(await binary.end()).toEqual({ code: 1008, reason: 'not_logged_in' });
      const silent = await dial().open();
      expect(await silent.end()).toEqual({ code: 1008, reason: 'handshake_timeout' });
      expect(log.sockets).toHaveLength(1);
    });

    test('a refused handshake is answered over HTTP with the envelope', async () => {
      const { dial, callers, metric, transport, log } = await echo({}, { auth: 'staff', permission: 'im:view' });
      callers.set('shopper', caller(1));
      callers.set('clerk', caller(2, { role: 'admin', perms: ['other'] }));
      callers.set('admin', caller(3, { role: 'admin', perms: ['im:view'] }));
      const refusals = [
        { client: dial(), status: 401, code: 401 },
        { client: dial('/ws/echo/a?token=unknown'), status: 401, code: 401 },
        { client: dial('/ws/echo/a?token=shopper'), status: 403, code: 403 },
        { client: dial('/ws/echo/a?token=clerk'), status: 403, code: 403 },
        { client: dial('/ws/echo/a', ['bearer.admin']), status: 400, code: 400 },
        { client: dial('/ws/echo/missing?token=admin'), status: 404, code: 404 },
        { client: dial('/ws/echo/broken?token=admin'), status: 500, code: 500 },
        { client: dial('/ws/nothing?token=admin'), status: 404, code: 404 },
        { client: dial('/ws/echo/%ff?token=admin'), status: 400, code: 400 },
      ];
      for (const { client, status, code } of refusals) {
        const refused = await client.refused();
        expect(refused).toEqual({
          status,
          body: { code, message: expect.any(String), msg: refused.body.message, data: null },
        });
      }
      const chinese = await dial('/ws/echo/a?lang=zh-CN').refused();
      expect(chinese.body.message).toBe('请先登录');
      const client = await dial('/ws/echo/a?token=admin').open();
      expect((await client.next(1)).id).toBe(3);
      expect(log.sockets).toHaveLength(1);
      expect((await metric('http_requests_total')).sort()).toEqual(
        ['code="401"} 3', 'code="403"} 2', 'code="400"} 1', 'code="404"} 1', 'code="500"} 1', 'code="0"} 1']
          .map((end) => `http_requests_total{method="GET",route="/ws/echo/:room",${end}`)
          .concat(['400', '404'].map((code) => `http_requests_total{method="GET",route="unknown",code="${code}"} 1`))
          .sort(),
      );
      expect(transport.activeRequests()).toBe(0);
    });

    test('a request without a handshake gets 426', async () => {
      const { transport } = await echo();
      const plain = await fetch(`${transport.url}/ws/echo/a`);
      expect([plain.status, plain.headers.get('upgrade'), ((await plain.json()) as { code: number }).code]).toEqual([
        426,
        'websocket',
        426,
      ]);
      const post = await fetch(`${transport.url}/ws/echo/a`, { method: 'POST' });
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
    });

    test('another version of the protocol is refused', async () => {
      const { transport } = await echo();
      const client = new TestSocket(`${transport.url}/ws/echo/a`, [], { protocolVersion: 8 });
      clients.push(client);
      expect((await client.refused()).status).toBe(426);
    });

    test('a token that expires, is revoked or loses its permission ends the socket', async () => {
      const { dial, callers, log } = await echo({ tokenCheckSeconds: 0.2 }, { auth: 'staff', permission: 'im:view' });
      const admin = (changes = {}) => caller(5, { role: 'admin', perms: ['im:view'], ...changes });
      callers.set('short', admin({ expiresAt: Date.now() / 1000 + 0.6 }));
      callers.set('revoked', admin());
      callers.set('demoted', admin());
      callers.set('kept', admin());
      const [short, revoked, demoted, kept] = await Promise.all(
        ['short', 'revoked', 'demoted', 'kept'].map((token) => dial(`/ws/echo/a?token=${token}`).open()),
      );
      callers.delete('revoked');
      callers.set('demoted', admin({ perms: [] }));
      for (const client of [short, revoked, demoted])
        expect(await client!.end()).toEqual({ code: 1008, reason: 'token_invalid' });
      expect(kept!.ended).toBeNull();
      expect(log.closed).toHaveLength(3);
    });
  });

  describe('invalid frames', () => {
    test('a frame that is not JSON or does not fit the schema gets an error frame', async () => {
      const { dial } = await echo();
      const client = await dial().open();
      client.ws.send('not json');
      client.send({ type: 'say', text: 5 });
      client.send({ type: 'unknown' });
      client.send({ type: 'say', text: 'still here' });
      await client.next(5);
      const [, ...answers] = client.json();
      expect(answers.map(({ type, code }) => [type, code])).toEqual([
        ['error', 400],
        ['error', 400],
        ['error', 400],
        ['said', undefined],
      ]);
      expect(answers[0].message).toBe('The frame is not valid JSON');
      expect(answers[1].message).toMatch(/^text: /);
      expect(answers[1].msg).toBe(answers[1].message);
    });

    test('a channel may ignore invalid frames, or close', async () => {
      const ignoring = echoChannel({}, { invalidFrames: 'ignore' });
      const closing = echoChannel({}, { invalidFrames: 'close', name: 'strict', path: '/ws/strict/:room' });
      const { dial } = await start(ignoring.channel, closing.channel);
      const client = await dial().open();
      client.ws.send('not json');
      client.send({ type: 'say', text: 'x' });
      expect((await client.next(2)).type).toBe('said');
      const strict = await dial('/ws/strict/a').open();
      strict.ws.send('not json');
      expect(await strict.end()).toEqual({ code: 1008, reason: 'invalid_frame' });
    });

    test('a handler that throws sends an error frame, and the process continues', async () => {
      const { dial, logged, log } = await echo();
      const client = await dial().open();
      for (const how of ['refusal', 'error', 'later']) client.send({ type: 'throw', how });
      client.send({ type: 'say', text: 'still here' });
      await client.next(5);
      expect(client.json().slice(1)).toMatchObject([
        { type: 'error', code: 400, message: 'no' },
        { type: 'error', code: 500 },
        { type: 'error', code: 500 },
        { type: 'said' },
      ]);
      expect(logged.map(({ msg }) => msg)).toEqual(['a request failed', 'a request failed']);
      const broken = await dial('/ws/echo/broken-open').open();
      expect(await broken.end()).toEqual({ code: 1011, reason: 'internal' });
      expect(broken.json()).toMatchObject([{ type: 'error', code: 500 }]);
      expect(log.closed).toEqual([{ code: 1011, reason: 'internal' }]);
    });

    test('a binary frame on a channel without binary frames ends the socket with 1003', async () => {
      const { dial } = await echo({}, { binary: {} });
      const client = await dial().open();
      client.ws.send(Buffer.from([1]));
      expect(await client.end()).toEqual({ code: 1003, reason: 'binary_not_taken' });
    });

    test('a message above the limit ends the socket, also in fragments', async () => {
      const { dial, raw, log, metric } = await echo({ frameBytes: 1000 });
      const client = await dial().open();
      client.ws.send('x'.repeat(1001));
      expect((await client.end()).code).toBe(1009);
      const huge = await dial().open();
      huge.ws.send('x'.repeat(500_000));
      // uWS cuts a message of more than twice the limit, without a close frame.
      expect((await huge.end()).code).toBe(name === 'uws' ? 1006 : 1009);
      const { socket, received } = await raw();
      socket.write(frameOf(Buffer.alloc(600, 0x78), { opcode: 1, final: false }));
      socket.write(frameOf(Buffer.alloc(600, 0x78), { opcode: 0 }));
      await until(() => socket.closed || received().includes(Buffer.from([0x03, 0xf1])));
      await until(() => log.closed.length === 3);
      expect(log.closed).toEqual(Array(3).fill({ code: 1009, reason: 'frame_too_large' }));
      expect(await metric('websocket_closes_total')).toEqual([
        'websocket_closes_total{channel="/ws/echo/:room",code="1009",reason="frame_too_large"} 3',
      ]);
    });

    test('invalid UTF-8 ends the socket', async () => {
      const { dial, log } = await echo();
      const client = await dial().open();
      client.ws.send(Buffer.from([0x7b, 0xff, 0xfe]), { binary: false });
      // uWS cuts the connection without a close frame.
      expect((await client.end()).code).toBe(name === 'uws' ? 1006 : 1007);
      await until(() => log.closed.length > 0);
      expect(log.closed).toEqual([{ code: 1007, reason: 'invalid_utf8' }]);
    });

    test('a frame that breaks the protocol ends the socket', async () => {
      const { raw, log } = await echo();
      const { socket } = await raw();
      socket.write(frameOf(Buffer.from('x'), { opcode: 3 }));
      await until(() => log.closed.length > 0);
      expect(log.closed).toEqual([{ code: 1002, reason: 'protocol' }]);
    });
  });

  describe('bounds', () => {
    test('a flood of frames or pings ends the socket', async () => {
      const { dial, log } = await echo({ framesPerSecond: 20 });
      const client = await dial().open();
      for (let i = 0; i < 60; i++) client.send({ type: 'say', text: String(i) });
      expect(await client.end()).toEqual({ code: 1008, reason: 'too_many_frames' });
      expect(client.json().length).toBeLessThanOrEqual(23);
      const pinging = await dial().open();
      for (let i = 0; i < 60; i++) pinging.ws.ping();
      expect(await pinging.end()).toEqual({ code: 1008, reason: 'too_many_frames' });
      const steady = await dial().open();
      for (let i = 0; i < 20; i++) steady.send({ type: 'say', text: String(i) });
      await steady.next(21);
      expect(log.closed).toHaveLength(2);
    });

    test('frames are queued while a handler works, in order and up to a limit', async () => {
      const { dial } = await echo({ waitingFrames: 3 });
      const client = await dial().open();
      client.send({ type: 'slow', ms: 100 });
      for (const text of ['a', 'b', 'c']) client.send({ type: 'say', text });
      await client.next(4);
      expect(client.json().map(({ text }) => text)).toEqual([undefined, 'a', 'b', 'c']);
      client.send({ type: 'slow', ms: 300 });
      for (const text of ['a', 'b', 'c', 'd']) client.send({ type: 'say', text });
      expect(await client.end()).toEqual({ code: 1008, reason: 'too_many_frames' });
    });

    test('sockets are counted per account, per address and in total', async () => {
      const many = echoChannel({ socketsPerAccount: 2, socketsPerAddress: 4 }, { auth: 'any' });
      const few = echoChannel({ sockets: 2 }, { name: 'few', path: '/ws/few/:room' });
      const { dial, callers, log } = { ...(await start(many.channel, few.channel)), log: many.log };
      callers.set('one', caller(1));
      callers.set('two', caller(2));
      callers.set('three', caller(3));
      const first = await dial('/ws/echo/a?token=one').open();
      await dial('/ws/echo/a?token=one').open();
      expect((await dial('/ws/echo/a?token=one').refused()).status).toBe(429);
      await dial('/ws/echo/a?token=two').open();
      await dial('/ws/echo/a?token=two').open();
      expect((await dial('/ws/echo/a?token=three').refused()).status).toBe(429);
      first.ws.close();
      await until(() => log.closed.length > 0);
      await dial('/ws/echo/a?token=one').open();
      await dial('/ws/few/a').open();
      await dial('/ws/few/a').open();
      expect((await dial('/ws/few/a').refused()).status).toBe(503);
    });

    test('a slow reader is cut when its queue is full, and memory is limited', async () => {
      const { raw, log, metric } = await echo({ queuedBytes: 200_000, frameBytes: 1000 });
      const { socket } = await raw();
      socket.pause();
      socket.write(
        frameOf(Buffer.from(JSON.stringify({ type: 'pour', frames: 10_000, bytes: 10_000 })), { opcode: 1 }),
      );
      await until(() => log.closed.length > 0);
      expect(log.closed).toEqual([{ code: 1008, reason: 'slow_reader' }]);
      const out = Number((await metric('websocket_frames_total'))[1]!.split(' ')[1]);
      // The kernel buffers some MB on loopback, and the queue adds to it. The client was sent 100 MB.
      expect(out).toBeLessThan(2_000);
    });

    test('a channel may drop frames instead, and continues when the reader does', async () => {
      const { raw, log, metric } = await echo({ queuedBytes: 100_000 }, { whenQueueFull: 'drop' });
      const { socket, received } = await raw();
      socket.pause();
      socket.write(frameOf(Buffer.from(JSON.stringify({ type: 'pour', frames: 3_000, bytes: 10_000 })), { opcode: 1 }));
      await until(() => log.poured.length > 0);
      expect(log.poured[0]!.sent).toBeLessThan(1_500);
      expect(log.poured[0]!.queued).toBeGreaterThan(0);
      expect(log.poured[0]!.queued).toBeLessThanOrEqual(100_000);
      socket.resume();
      await until(() => log.sockets[0]!.queuedBytes === 0);
      await until(() => log.drained > 0);
      expect(Number((await metric('websocket_frames_total'))[2]!.split(' ')[1])).toBeGreaterThan(0);
      socket.write(frameOf(Buffer.from(JSON.stringify({ type: 'say', text: 'read again' })), { opcode: 1 }));
      await until(() => received().includes('read again'));
      expect(log.closed).toEqual([]);
    });

    test('a fast reader gets all frames', async () => {
      const { dial } = await echo({ queuedBytes: 64_000_000 });
      const client = await dial().open();
      client.send({ type: 'pour', frames: 400, bytes: 50_000 });
      await client.next(402);
      expect(client.json().at(-1)).toEqual({ type: 'poured', sent: 400 });
    });

    test('an idle socket is closed, a socket with messages stays open', async () => {
      const { dial } = await echo({ idleSeconds: 0.3 });
      const idle = await dial().open();
      const busy = await dial().open();
      const talk = setInterval(() => busy.send({ type: 'say', text: '.' }), 80);
      expect(await idle.end()).toEqual({ code: 1008, reason: 'idle' });
      expect(busy.ended).toBeNull();
      clearInterval(talk);
    });
  });

  test('a peer that answers no ping is cut, a peer that answers stays', async () => {
    const { dial, raw, log } = await echo({ pingSeconds: 0.2, pongSeconds: 0.3 });
    const alive = await dial().open();
    const { socket } = await raw();
    await until(() => log.closed.length > 0);
    expect(log.closed).toEqual([{ code: 1006, reason: 'no_pong' }]);
    await until(() => socket.closed);
    await until(() => alive.pings >= 3);
    expect(alive.ended).toBeNull();
  });

  test('a broken connection is detected', async () => {
    const { dial, log } = await echo();
    const client = await dial().open();
    client.ws.terminate();
    await until(() => log.closed.length > 0);
    expect(log.closed).toEqual([{ code: 1006, reason: 'lost' }]);
  });

  test('a handler closes with a code of its own', async () => {
    const { dial, log } = await echo();
    const client = await dial().open();
    client.send({ type: 'leave' });
    expect(await client.end()).toEqual({ code: 4001, reason: 'left' });
    expect(log.closed).toEqual([{ code: 4001, reason: 'channel' }]);
    expect(log.sockets[0]!.send({ type: 'said', text: 'too late' })).toBe(false);
  });

  test('the hub sends one frame to a group, without the sender', async () => {
    const { dial, channel, log } = await echo();
    const a = await dial('/ws/echo/x').open();
    const b = await dial('/ws/echo/x').open();
    const c = await dial('/ws/echo/y').open();
    await Promise.all([a, b, c].map((client) => client.next(1)));
    const hub = channel.hub as unknown as { send(group: string, frame: Sent, except?: object): number };
    expect(hub.send('x', { type: 'said', text: 'all' })).toBe(2);
    expect(hub.send('x', { type: 'said', text: 'but one' }, log.sockets[0])).toBe(1);
    expect(hub.send('z', { type: 'said', text: 'none' })).toBe(0);
    await b.next(3);
    await a.next(2);
    expect([a, b, c].map((client) => client.frames.length)).toEqual([2, 3, 1]);
    channel.hub.close('x', 4000, 'logged out');
    expect(await a.end()).toEqual({ code: 4000, reason: 'logged out' });
    await b.end();
    expect(channel.hub.size('x')).toBe(0);
    expect(channel.hub.size('y')).toBe(1);
  });

  test('a peer that does not answer the close frame is cut', async () => {
    const { raw, log } = await echo();
    const { socket } = await raw();
    socket.allowHalfOpen = true;
    socket.write(frameOf(Buffer.from(JSON.stringify({ type: 'leave' })), { opcode: 1 }));
    await until(() => log.closed.length > 0);
    // The pongs keep the connection busy. Without the cut it would stay open as long as they arrive.
    const pongs = setInterval(() => socket.write(frameOf(Buffer.alloc(0), { opcode: 10 })), 200);
    await until(() => socket.closed, 12_000);
    clearInterval(pongs);
  });

  test('shutdown closes all sockets with 1001 after the running handlers', async () => {
    const { dial, transport, log } = await echo();
    const busy = await dial().open();
    const idle = await dial().open();
    await Promise.all([busy.next(1), idle.next(1)]);
    busy.send({ type: 'slow', ms: 300 });
    await sleep(50);
    const began = performance.now();
    await transport.close(30_000);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(await idle.end()).toEqual({ code: 1001, reason: 'shutdown' });
    expect(await busy.end()).toEqual({ code: 1001, reason: 'shutdown' });
    expect(log.closed).toEqual(Array(2).fill({ code: 1001, reason: 'shutdown' }));
  });

  test('shutdown takes no longer than its deadline', async () => {
    const { raw, dial, transport } = await echo();
    const busy = await dial().open();
    await raw();
    busy.send({ type: 'slow', ms: 6_000 });
    await sleep(50);
    const began = performance.now();
    await transport.close(300);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('1,000 sockets at once', async () => {
    const { dial, channel, transport, log } = await echo({ socketsPerAddress: 1_000 });
    const all: TestSocket[] = [];
    for (let batch = 0; batch < 10; batch++)
      all.push(...(await Promise.all(Array.from({ length: 100 }, () => dial('/ws/echo/all').open()))));
    await until(() => log.sockets.length === 1_000, 20_000);
    expect((await dial('/ws/echo/all').refused()).status).toBe(429);
    expect(
      (channel.hub as { send(group: string, frame: Sent): number }).send('all', { type: 'said', text: 'hi' }),
    ).toBe(1_000);
    await until(() => all.every(({ frames }) => frames.length === 2), 20_000);
    expect(transport.activeRequests()).toBe(0);
    for (const { ws } of all) ws.close();
    await until(() => log.closed.length === 1_000, 20_000);
    expect(channel.hub.size('all')).toBe(0);
  });
});
