import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAddressGuard, openPartnerGuard, type Resolve } from './address-guard.ts';
import { guardedConnector } from './guarded-connector.ts';
import { openGuardedFetch } from './guarded-fetch.ts';
import { parseTarget } from './target-url.ts';

let server: Server;
let port: number;
let requests: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (request.url === '/to-metadata') response.writeHead(302, { location: 'http://169.254.169.254/latest' });
    response.end('read');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  requests = [];
});

const addresses = (...list: string[]) => list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
const guarded = (resolve: Resolve, allowedNetworks: readonly string[] = []) =>
  openAddressGuard({ allowedNetworks, resolve });
const resolvesTo =
  (...list: string[]): Resolve =>
  async () =>
    addresses(...list);

/** The answer to a request of a pool with the guard, or the code of its error. */
async function request(guard: ReturnType<typeof guarded>, host: string): Promise<string> {
  const pool = new Pool(`http://${host}:${port}`, { connect: guardedConnector(guard, { connectMs: 2_000 }) });
  try {
    const { body } = await pool.request({ method: 'GET', path: '/secret' });
    return await body.text();
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await pool.destroy();
  }
}

describe('an address', () => {
  test.each([
    ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.9.9.9', '168.63.129.16'],
    ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.192', '192.0.2.1', '192.168.1.1', '198.18.0.1'],
    ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '::', '::1', '::127.0.0.1', '::ffff:10.0.0.1'],
    ...['::ffff:8.8.8.8', '64:ff9b::10.0.0.1', '64:ff9b:1::a00:1', '2002:a00:1::', '2001::1', '2001:db8::1'],
    ...['fc00::1', 'fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', 'no address', ''],
  ])('%s is refused', (address) => {
    expect(openAddressGuard({ allowedNetworks: [] }).allows(address)).toBe(false);
  });

  test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001:830::200e'])(
    '%s is allowed',
    (address) => expect(openAddressGuard({ allowedNetworks: [] }).allows(address)).toBe(true),
  );

  test('in a private network is allowed where the operator names the network, and only there', () => {
    const { allows } = openAddressGuard({ allowedNetworks: ['10.1.0.0/16', '192.168.7.4', 'fd12::/32'] });
    expect(['10.1.2.3', '192.168.7.4', 'fd12::5'].map(allows)).toEqual([true, true, true]);
    expect(['10.2.0.1', '192.168.7.5', 'fd13::5', '169.254.169.254', '::ffff:10.1.2.3'].map(allows)).toEqual(
      Array(5).fill(false),
    );
  });
});

describe('a partner', () => {
  test.each([
    ...['169.254.169.254', '169.254.0.23', '168.63.129.16', '100.100.100.200', '192.0.0.192', '::ffff:169.254.169.254'],
    ...['fd00:ec2::254', 'fd00:0ec2:0:0::254', 'fe80::a9fe:a9fe', 'fe80::1%eth0'],
  ])('is not at %s', (address) => {
    expect(openPartnerGuard().allows(address)).toBe(false);
  });

  test.each(['127.0.0.1', '10.0.0.1', '192.168.1.1', 'fd12::5', '::1', '8.8.8.8'])('may be at %s', (address) =>
    expect(openPartnerGuard().allows(address)).toBe(true),
  );

  test('is not connected to when its name has a metadata address', async () => {
    expect(await request(openPartnerGuard(resolvesTo('127.0.0.1')), 'partner.example')).toBe('read');
    expect(await request(openPartnerGuard(resolvesTo('169.254.169.254')), 'partner.example')).toBe('REFUSED_ADDRESS');
  });
});

describe('a URL', () => {
  test.each([
    ['ftp://files.example/', 'not_http'],
    ['file:///etc/passwd', 'not_http'],
    ['gopher://10.0.0.1:6379/_FLUSHALL', 'not_http'],
    ['hooks.example/path', 'not_http'],
    ['', 'not_http'],
    ['https://user@hooks.example/', 'has_credentials'],
    ['https://:secret@hooks.example/', 'has_credentials'],
  ])('%s is no target: %s', (text, problem) => expect(parseTarget(text)).toBe(problem));

  // Each of these is an address in another notation.
  test.each(['127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '10.0.0.1.', '0'])(
    'with the host %s is refused when it is entered',
    async (host) => {
      const url = parseTarget(`http://${host}/`) as URL;
      expect(await openAddressGuard({ allowedNetworks: [] }).check(url)).toBe('private_address');
    },
  );

  test('whose host has no address, or a private one among others, is refused when it is entered', async () => {
    const url = parseTarget('https://hooks.example/') as URL;
    expect(await guarded(resolvesTo()).check(url)).toBe('unknown_host');
    expect(await guarded(() => Promise.reject(new Error('ENOTFOUND'))).check(url)).toBe('unknown_host');
    expect(await guarded(resolvesTo('8.8.8.8', '10.0.0.1')).check(url)).toBe('private_address');
    expect(await guarded(resolvesTo('8.8.8.8')).check(url)).toBeNull();
  });
});

describe('a connection', () => {
  test('is refused before a byte is sent when the host has a private address', async () => {
    expect(await request(guarded(resolvesTo('127.0.0.1')), 'hooks.example')).toBe('REFUSED_ADDRESS');
    expect(await request(guarded(resolvesTo('8.8.8.8', '127.0.0.1')), 'hooks.example')).toBe('REFUSED_ADDRESS');
    expect(await request(guarded(resolvesTo('::ffff:127.0.0.1')), 'hooks.example')).toBe('REFUSED_ADDRESS');
    expect(await request(guarded(resolvesTo()), '127.0.0.1')).toBe('REFUSED_ADDRESS');
    expect(requests).toEqual([]);
  });

  test('uses the address that was checked: the name is resolved once', async () => {
    let calls = 0;
    // A name server of an attacker: the address that is checked first, another one afterwards.
    const rebinding: Resolve = async () => {
      calls += 1;
      return addresses(calls === 1 ? '127.0.0.1' : '127.0.0.2');
    };
    expect(await request(guarded(rebinding, ['127.0.0.1']), 'hooks.example')).toBe('read');
    expect(calls).toBe(1);
    expect(await request(guarded(rebinding, ['127.0.0.1']), 'hooks.example')).toBe('REFUSED_ADDRESS');
    expect(requests).toEqual(['/secret']);
  });
});

describe('the guarded fetch', () => {
  const options = { connectMs: 2_000, maxAnswerBytes: 1_000, connectionsPerOrigin: 2 };

  test('reads an allowed host, and follows no redirect to a refused one', async () => {
    const { fetch, close } = openGuardedFetch(guarded(resolvesTo('127.0.0.1'), ['127.0.0.1']), options);
    expect(await (await fetch(`http://ai.example:${port}/image`)).text()).toBe('read');
    const redirected = `http://ai.example:${port}/to-metadata`;
    await expect(fetch(redirected)).rejects.toThrow();
    const followed = await fetch(redirected, { redirect: 'follow' }).catch((error: Error) => error.cause);
    expect(followed).toMatchObject({ code: 'REFUSED_ADDRESS' });
    await close();
  });

  test('refuses a private host', async () => {
    const { fetch, close } = openGuardedFetch(guarded(resolvesTo('127.0.0.1')), options);
    const failed = await fetch(`http://ai.example:${port}/image`).catch((error: Error) => error.cause);
    expect(failed).toMatchObject({ code: 'REFUSED_ADDRESS' });
    expect(requests).toEqual([]);
    await close();
  });
});
