import { H3 } from 'h3';
import { afterEach, describe, expect, test } from 'vitest';
import { clientAddress, clientNetwork } from './client-address.ts';
import { serveNode } from './node-transport.ts';
import type { Transport } from './transport.ts';
import { serveUws } from './uws-transport.ts';

const servers: Transport[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(200))));

describe.each([
  { name: 'uws', serve: serveUws },
  { name: 'node', serve: serveNode },
])('the address of the client on $name', ({ serve }) => {
  /** The address the application sees, after it has waited for the body and for something else. */
  async function seen(trusted: readonly string[], headers: Record<string, string> = {}, hostname = '127.0.0.1') {
    const app = new H3({ silent: true });
    app.post('/', async ({ req }) => {
      await req.text();
      await new Promise((resolve) => setTimeout(resolve, 5));
      return clientAddress(req as unknown as Request, trusted);
    });
    const server = await serve({ fetch: app.fetch as never, port: 0, hostname });
    servers.push(server);
    return (await fetch(`${server.url}/`, { method: 'POST', body: 'x', headers })).text();
  }

  test('is the peer; what a stranger writes into headers is not believed', async () => {
    expect(await seen([])).toBe('127.0.0.1');
    expect(await seen([], { 'x-forwarded-for': '1.2.3.4', 'x-real-ip': '1.2.3.4' })).toBe('127.0.0.1');
    expect(await seen(['10.0.0.0/8'], { 'x-forwarded-for': '1.2.3.4' })).toBe('127.0.0.1');
  });

  test('comes from a trusted proxy, the last address that is no proxy of ours', async () => {
    const trusted = ['127.0.0.0/8', '10.1.0.0/16'];
    expect(await seen(trusted, { 'x-forwarded-for': '1.2.3.4' })).toBe('1.2.3.4');
    expect(await seen(trusted, { 'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.1.2.3' })).toBe('1.2.3.4');
    expect(await seen(trusted, { 'x-real-ip': '1.2.3.4' })).toBe('1.2.3.4');
    expect(await seen(trusted, { 'x-forwarded-for': '6.6.6.6, unknown' })).toBe('127.0.0.1');
    expect(await seen(trusted, { 'x-forwarded-for': '1.2.3.4:5555' })).toBe('1.2.3.4');
    expect(await seen(trusted, { 'x-forwarded-for': '[2001:db8::1]:80' })).toBe('2001:db8::1');
    expect(await seen(trusted)).toBe('127.0.0.1');
  });

  test('is spelled in one way on IPv6', async () => {
    expect(await seen([], {}, '::1')).toBe('::1');
    expect(await seen(['::1'], { 'x-forwarded-for': '2001:DB8:0:0::0001' }, '::1')).toBe('2001:db8::1');
    expect(await seen(['::1'], { 'x-forwarded-for': '::ffff:1.2.3.4' }, '::1')).toBe('1.2.3.4');
  });
});

test('an IPv6 customer counts by their network, of which they can use any address', () => {
  expect(clientNetwork('2001:db8:1:2:3:4:5:6')).toBe(clientNetwork('2001:db8:1:2::9'));
  expect(clientNetwork('2001:db8::1')).not.toBe(clientNetwork('2001:db8:0:1::1'));
  expect(clientNetwork('::1')).toBe('0:0:0:0::/64');
  expect(clientNetwork('1.2.3.4')).toBe('1.2.3.4');
});
