import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@tradepost/testing/processes/free-ports';
import { openShop } from '@tradepost/testing/shop';
import { describe, expect, test } from 'vitest';
import { serveUws } from '../../packages/http/transports/uws/uws-transport.ts';
import { idParams } from '../../packages/http/validation/fields.ts';
import { defineChannel } from '../../packages/http/websocket/define-channel.ts';
import { openTestApp, TestSocket } from '../../packages/http/websocket/test-sockets.ts';
import { formWith, pngOf } from '../../packages/storage/testing/forms.ts';
import { hasProxy, type RunningProxy, startProxy } from './proxy-process.ts';

type Answer = { status: number; headers: IncomingHttpHeaders; text: string };
type Call = { headers?: Record<string, string>; body?: string | AsyncIterable<Uint8Array>; from?: string };

/** A client that trusts the certificate of the proxy. `from` is its address. */
async function openClient({ port, certificate }: RunningProxy) {
  const ca = await readFile(certificate);
  const agent = new Agent({ ca, servername: 'shop.example', keepAlive: true });
  const call = async (method: string, path: string, { headers, body, from }: Call = {}): Promise<Answer> => {
    const sent = request({
      ...{ agent, method, path, host: '127.0.0.1', port, localAddress: from },
      headers: { host: 'shop.example', ...headers },
    });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => {});
    if (body !== undefined && typeof body !== 'string') for await (const part of body) sent.write(part);
    sent.end(typeof body === 'string' ? body : undefined);
    const [response] = await answered;
    let text = '';
    for await (const part of response) text += part;
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  };
  return { ca, call, close: () => agent.destroy() };
}

const json = { 'content-type': 'application/json' };

/** Servers in the place of the API processes. They count the requests by method. */
async function openUpstreams(answer: (server: number) => 'answer' | 'drop') {
  const seen: string[] = [];
  const listening = async (index: number): Promise<Server> => {
    const server = createServer((incoming, response) => {
      incoming.resume().once('end', () => {
        if (incoming.url !== '/ready') seen.push(incoming.method!);
        if (incoming.url === '/ready' || answer(index) === 'answer') response.end(`from ${index}`);
        else incoming.socket.destroy();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const servers = await Promise.all([listening(0), listening(1)]);
  const [one, other] = servers.map((server) => (server.address() as AddressInfo).port);
  return { seen, ports: [one!, other!] as const, close: () => servers.map((server) => server.close()) };
}

const kinds = (['nginx', 'caddy'] as const).filter((kind) => hasProxy(kind, 'the tests of its example'));

describe.each(kinds)('%s with its example', (kind) => {
  test('passes requests, the address of the client and uploads on through TLS, and limits bodies', async () => {
    const shop = await openShop({ trustedProxies: '127.0.0.1', maxBodyBytes: 4 * 2 ** 20 });
    const port = Number(new URL(shop.url).port);
    const proxy = await startProxy(kind, { api: [port, port], tls: true });
    const { call, close } = await openClient(proxy);
    try {
      const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
      const health = await call('GET', '/health');
      expect([health.status, JSON.parse(health.text).status]).toEqual([200, 'ok']);
      // The proxy is on 127.0.0.1. A client may not choose its address.
      const made = await call('POST', '/admin/api/announcements', {
        headers: { ...json, authorization: `Bearer ${staff}`, 'x-forwarded-for': '203.0.113.9' },
        body: JSON.stringify({ title: 'Closed', content: 'On Monday' }),
        from: '127.0.0.7',
      });
      expect(JSON.parse(made.text).code, made.text).toBe(0);
      const [change] = await shop.database.sql`
        select address from change_log.changes where table_name like '%announcements' order by id desc limit 1`;
      expect(change).toEqual({ address: '127.0.0.7' });
      const { token } = await shop.shopper();
      const form = new Response(formWith({ content: pngOf(3_000_000) }));
      const bytes = new Uint8Array(await form.arrayBuffer());
      // The shop reads an upload while it arrives: its request runs before the client has sent the rest.
      const parts = async function* () {
        yield bytes.subarray(0, 1_000_000);
        await expect.poll(() => shop.server.transport!.activeRequests()).toBe(1);
        yield bytes.subarray(1_000_000);
      };
      const uploaded = await call('POST', '/api/v1/upload', {
        headers: {
          'content-type': form.headers.get('content-type')!,
          authorization: `Bearer ${token}`,
          'content-length': String(bytes.length),
        },
        body: parts(),
      });
      expect(JSON.parse(uploaded.text)).toMatchObject({ code: 0, data: { size: 3_000_000 } });
      const large = await call('POST', '/api/v1/orders', { headers: json, body: 'x'.repeat(1_100_000) });
      // Caddy 2.6 answers 502.
      expect(kind === 'nginx' ? [413] : [413, 502]).toContain(large.status);
    } finally {
      close();
      await proxy.close();
      await shop.close();
    }
  });

  test('passes WebSockets on', async () => {
    const channel = defineChannel({
      ...{ name: 'echo', path: '/ws/echo', auth: 'public', summary: 'Echo', tag: 'Test' },
      ...{ receives: idParams, sends: idParams },
      connect: () => ({ message: (frame, socket) => void socket.send(frame) }),
    });
    const { app } = openTestApp([channel]);
    const server = await serveUws({
      fetch: (incoming) => (incoming.url.endsWith('/ready') ? new Response('ok') : app.fetch(incoming)),
      sockets: app.sockets,
    });
    const proxy = await startProxy(kind, { api: [server.port, server.port], tls: true });
    const { ca, close } = await openClient(proxy);
    try {
      const trust = { ca, servername: 'shop.example', headers: { host: 'shop.example' } };
      const socket = await new TestSocket(`https://127.0.0.1:${proxy.port}/ws/echo`, [], trust).open();
      socket.send({ id: 7 });
      expect(await socket.next(1)).toEqual({ id: 7 });
      // As at the stop of a process behind a proxy.
      const begun = performance.now();
      await server.close(20_000, { keepIdle: true });
      expect(performance.now() - begun).toBeLessThan(15_000);
      expect(await socket.end()).toEqual({ code: 1001, reason: 'shutdown' });
    } finally {
      close();
      await proxy.close();
      await server.close(100);
    }
  });

  test('a refused connection goes to the other process, also with a POST', async () => {
    const upstreams = await openUpstreams(() => 'answer');
    const proxy = await startProxy(kind, { api: [upstreams.ports[0], await freePorts()], tls: true });
    const { call, close } = await openClient(proxy);
    try {
      for (let n = 0; n < 10; n += 1) expect((await call('POST', '/orders', { body: 'x' })).text).toBe('from 0');
      expect(upstreams.seen).toEqual(Array(10).fill('POST'));
    } finally {
      close();
      await proxy.close();
      upstreams.close();
    }
  });

  test('a request that is not safe to repeat is never sent twice', async () => {
    const upstreams = await openUpstreams(() => 'drop');
    const proxy = await startProxy(kind, { api: upstreams.ports, tls: true });
    const { call, close } = await openClient(proxy);
    try {
      for (const method of ['POST', 'PATCH']) {
        expect((await call(method, '/orders', { body: 'x' })).status).toBe(502);
        await sleep(100);
        expect(upstreams.seen.splice(0)).toEqual([method]);
      }
      await call('GET', '/orders');
      expect(upstreams.seen.length).toBeGreaterThan(1);
    } finally {
      close();
      await proxy.close();
      upstreams.close();
    }
  });
});
