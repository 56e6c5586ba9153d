import { request } from 'node:http';
import { H3 } from 'h3';
import { afterEach, describe, expect, test } from 'vitest';
import { serveNode } from '../transports/node/node-transport.ts';
import type { Transport } from '../transports/transport.ts';
import { serveUws } from '../transports/uws/uws-transport.ts';
import { clientAddress, clientNetwork } from './client-address.ts';

const servers: Transport[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(200))));

describe.each([
  { name: 'uws', serve: serveUws },
  { name: 'node', serve: serveNode },
])('the address of the client on $name', ({ serve }) => {
  /** The address that the application sees after it has waited for the body and for a timer. */
  async function serving(trusted: readonly string[], hostname = '127.0.0.1'): Promise<string> {
    const app = new H3({ silent: true });
    app.post('/', async ({ req }) => {
      await req.text();
      await new Promise((resolve) => setTimeout(resolve, 5));
      return clientAddress(req as unknown as Request, trusted);
    });
    const server = await serve({ fetch: app.fetch as never, port: 0, hostname });
    servers.push(server);
    return `${server.url}/`;
  }
  const seen = async (trusted: readonly string[], headers: Record<string, string> = {}, hostname = '127.0.0.1') =>
    (await fetch(await serving(trusted, hostname), { method: 'POST', body: 'x', headers })).text();

  test('is the address of the peer; headers of an unknown client are ignored', async () => {
    expect(await seen([])).toBe('127.0.0.1');
    expect(await seen([], { 'x-forwarded-for': '1.2.3.4', 'x-real-ip': '1.2.3.4' })).toBe('127.0.0.1');
    expect(await seen(['10.0.0.0/8'], { 'x-forwarded-for': '1.2.3.4' })).toBe('127.0.0.1');
  });

  test('is the last address of the header that is not a trusted proxy', async () => {
    const trusted = ['127.0.0.0/8', '10.1.0.0/16'];
    expect(await seen(trusted, { 'x-forwarded-for': '1.2.3.4' })).toBe('1.2.3.4');
    expect(await seen(trusted, { 'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.1.2.3' })).toBe('1.2.3.4');
    expect(await seen(trusted, { 'x-real-ip': '1.2.3.4' })).toBe('1.2.3.4');
    expect(await seen(trusted, { 'x-forwarded-for': '6.6.6.6, unknown' })).toBe('127.0.0.1');
    expect(await seen(trusted, { 'x-forwarded-for': '1.2.3.4:5555' })).toBe('1.2.3.4');
    expect(await seen(trusted, { 'x-forwarded-for': '[2001:db8::1]:80' })).toBe('2001:db8::1');
    expect(await seen(trusted)).toBe('127.0.0.1');
  });

  test('a header line that a trusted proxy adds counts, and an earlier line of the client does not', async () => {
    const url = new URL(await serving(['127.0.0.1']));
    const ask = (headers: Record<string, string[]>) =>
      new Promise<string>((resolve, reject) => {
        const sent = request(url, { method: 'POST', headers }, (response) => {
          response.setEncoding('utf8').on('data', resolve);
        });
        sent.on('error', reject).end('x');
      });
    expect(await ask({ 'X-Forwarded-For': ['6.6.6.6', '1.2.3.4'] })).toBe('1.2.3.4');
    expect(await ask({ 'X-Forwarded-For': ['', '1.2.3.4'], 'X-Real-IP': ['6.6.6.6'] })).toBe('1.2.3.4');
    expect(await ask({ 'X-Forwarded-For': ['', ''], 'X-Real-IP': ['1.2.3.4', '6.6.6.6'] })).toBe('127.0.0.1');
  });

  test('has one spelling on IPv6', async () => {
    expect(await seen([], {}, '::1')).toBe('::1');
    expect(await seen(['::1'], { 'x-forwarded-for': '2001:DB8:0:0::0001' }, '::1')).toBe('2001:db8::1');
    expect(await seen(['::1'], { 'x-forwarded-for': '::ffff:1.2.3.4' }, '::1')).toBe('1.2.3.4');
  });
});

describe('trusted proxies', () => {
  const from = (ip: string, trusted: readonly string[], forwarded: string) =>
    clientAddress(
      Object.assign(new Request('http://shop.invalid', { headers: { 'x-forwarded-for': forwarded } }), { ip }),
      trusted,
    );
  const client = '198.51.100.7';

  test.each([
    ['10.1.2.3', '10.1.0.0/16', true],
    ['10.2.2.3', '10.1.0.0/16', false],
    ['10.1.255.255', '10.1.3.9/16', true],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.4', '10.1.2.3/32', false],
    ['::ffff:10.1.2.3', '10.1.0.0/16', true],
    ['0000:0000:0000:0000:0000:ffff:0a01:0203', '10.1.0.0/16', true],
    ['::ffff:10.2.2.3', '10.1.0.0/16', false],
    ['10.1.2.3', '::ffff:10.1.0.0/112', true],
    ['10.2.2.3', '::ffff:10.1.0.0/112', false],
    ['10.1.2.3', '::ffff:a01:203', true],
    ['2001:db8:7fff::1', '2001:db8::/33', true],
    ['2001:db8:8000::1', '2001:db8::/33', false],
    ['2001:DB8:0:0::1', '2001:db8::1', true],
    ['fe80::1%eth0', 'fe80::/10', true],
    // A network of IPv6 does not match IPv4 addresses, and the reverse.
    ['10.1.2.3', '::/0', false],
    ['10.1.2.3', '::/64', false],
    ['2001:db8::1', '0.0.0.0/0', false],
    ['203.0.113.5', '0.0.0.0/0', true],
  ])('from %s with TRUSTED_PROXIES=%s the header is believed: %j', (ip, trusted, believed) => {
    expect(from(ip, [trusted], client) === client).toBe(believed);
  });

  const chain = ['10.1.0.0/16', '2001:db8:1::/48', '192.0.2.1'];
  test.each([
    ['6.6.6.6, 198.51.100.7, 2001:db8:1::5, 10.1.9.9', client],
    ['6.6.6.6, 10.1.9.8, 198.51.100.7', client],
    ['198.51.100.7:55555, ::ffff:192.0.2.1', client],
    ['198.51.100.7, [2001:db8:1::5]:443, 10.1.9.9:80', client],
    ['6.6.6.6, ::ffff:198.51.100.7', client],
    ['6.6.6.6, [::ffff:198.51.100.7]:1', client],
    // A part that is not an address ends the search. The last proxy before it is the best known address.
    ['198.51.100.7, unknown, 10.1.9.9', '10.1.9.9'],
    ['198.51.100.7, 010.1.9.9', '10.1.0.1'],
    ['198.51.100.7,, 10.1.9.9', '10.1.9.9'],
    ['198.51.100.7, 10.1.9.9, <script>', '10.1.0.1'],
    ['198.51.100.7, 1.2.3.4.5', '10.1.0.1'],
    ['198.51.100.7, 1.2.3.4:99:1', '10.1.0.1'],
    // All addresses are proxies: the first one is the origin.
    ['10.1.5.5, 2001:db8:1::5', '10.1.5.5'],
  ])('behind several proxies %j comes from %s', (forwarded, address) => {
    expect(from('10.1.0.1', chain, forwarded)).toBe(address);
  });

  test('a long header costs little, and only its end counts', () => {
    const started = performance.now();
    expect(from('10.1.0.1', chain, `${'6.6.6.6, '.repeat(20_000)}${client}, 10.1.9.9`)).toBe(client);
    expect(from('10.1.0.1', chain, `${' '.repeat(200_000)}x`)).toBe('10.1.0.1');
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

test('all addresses of an IPv6 network, and no others, have the same network, at any prefix length', () => {
  for (const bits of [16, 32, 48, 56, 64, 96, 127]) {
    const key = clientNetwork('2001:db8:1:2ff:3:4:5:7', bits);
    expect(key).toMatch(new RegExp(`/${bits}$`));
    const value = (address: string) =>
      address.split(':').reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
    const spelled = (number: bigint) =>
      Array.from({ length: 8 }, (_, i) => ((number >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');
    const base = value('2001:db8:1:2ff:3:4:5:7');
    for (let bit = 0; bit < 128; bit += 1) {
      const other = spelled(base ^ (1n << BigInt(127 - bit)));
      expect(clientNetwork(other, bits) === key, `${other} and ${key}`).toBe(bit >= bits);
    }
  }
  expect(clientNetwork('2001:db8:1:2ff::7', 56)).toBe('2001:db8:1:200::/56');
  expect(clientNetwork('64:ff9b::192.0.2.33', 112)).toBe(clientNetwork('64:ff9b::c000:2ff', 112));
  expect(clientNetwork('2001:db8::1', 128)).toBe('2001:db8::1');
});

test('an IPv6 client counts by its network, because it can use any address in it', () => {
  expect(clientNetwork('2001:db8:1:2:3:4:5:6')).toBe(clientNetwork('2001:db8:1:2::9'));
  expect(clientNetwork('2001:db8::1')).not.toBe(clientNetwork('2001:db8:0:1::1'));
  expect(clientNetwork('::1')).toBe('0:0:0:0::/64');
  expect(clientNetwork('1.2.3.4')).toBe('1.2.3.4');
});
