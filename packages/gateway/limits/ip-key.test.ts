import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ipKey } from './ip-key.ts';

/** The limiter key of an address: an IPv4 network shares a quota, and another spelling of an address has the same key. */
test.each([
  ['203.0.113.7', '203.0.113'],
  ['203.0.113.255', '203.0.113'],
  ['203.0.11.3', '203.0.11'],
  ['2001:db8::1', '2001:db8::1'],
  ['2001:db8::2', '2001:db8::2'],
  ['', null],
])('the key of %j is %j', (address, key) => {
  expect(ipKey(address)).toBe(key);
});

test.each([
  ['2001:db8:1:2:3::4', 64, '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::9', 64, '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', 64, '2001:db8:1:3::/64'],
  ['2001:db8:1:2ff::1', 56, '2001:db8:1:200::/56'],
  ['2001:db8::1', 128, '2001:db8::1'],
  ['203.0.113.7', 64, '203.0.113'],
])('the key of %j with a prefix of %i bits is %j', (address, prefix, key) => {
  expect(ipKey(address, prefix)).toBe(key);
});

describe('through the gateway', () => {
  let behindProxies: Shop;
  let direct: Shop;
  let network = 0;
  beforeAll(async () => {
    const flags = { only: 'api,gateway', gatewayPort: 0 };
    const settings = { 'ratelimit.ip_rpm': 2 };
    // Its trusted proxy is not the client of these requests.
    direct = await openShop({ ...flags, trustedProxies: ['10.1.0.0/16'] }, settings);
    behindProxies = await openShop({ ...flags, trustedProxies: ['127.0.0.0/8', '::1', '10.1.0.0/16'] }, settings);
  });
  afterAll(async () => {
    await behindProxies?.close();
    await direct?.close();
  });
  beforeEach(() => {
    network += 1;
  });

  /** Sends requests without an API key, which charge the address alone. Returns whether each was refused by its limit. */
  async function limited(shop: Shop, ...each: Record<string, string>[]): Promise<boolean[]> {
    const seen: boolean[] = [];
    for (const headers of each) {
      const response = await fetch(`${shop.server.gateway!.url}/v1/models`, { headers });
      const { error } = (await response.json()) as { error: { message: string } };
      if (response.status === 429) expect(error.message).toBe('rate limit exceeded: ip RPM');
      else expect(response.status).toBe(401);
      seen.push(response.status === 429);
    }
    return seen;
  }
  const forwarded = (...values: string[]) => values.map((value) => ({ 'x-forwarded-for': value }));
  const real = (...values: string[]) => values.map((value) => ({ 'x-real-ip': value }));
  /** A key has a quota of two requests. The third is refused when it has the same key. */
  const same = [false, false, true];
  const others = [false, false, false];

  test('the addresses of a /24 share a quota', async () => {
    const at = `198.51.${network}`;
    expect(await limited(behindProxies, ...forwarded(`${at}.1`, `${at}.200`, `${at}.77`))).toEqual(same);
    expect(await limited(behindProxies, ...forwarded(`198.52.${network}.1`))).toEqual([false]);
  });

  test.each([
    ['IPv4 within IPv6', (n: number) => [`198.51.${n}.1`, `::ffff:198.51.${n}.2`, `::FFFF:198.51.${n}.3`]],
    ['with ports', (n: number) => [`198.51.${n}.1:80`, `[::ffff:198.51.${n}.2]:443`, `198.51.${n}.3`]],
    ['IPv6 spelled out', (n: number) => [`2001:db8::${n}`, `2001:0DB8:0:0:0:0:0:${n}`, `[2001:db8:0::${n}]:9`]],
    ['with a zone', (n: number) => [`fe80::${n}%eth0`, `fe80::${n}`, `fe80:0::${n}%1`]],
    ['with blanks', (n: number) => [` 198.51.${n}.1 `, `198.51.${n}.2 `, `\t198.51.${n}.3`]],
  ])('an address has the same key in every spelling: %s', async (_title, spelled) => {
    expect(await limited(behindProxies, ...forwarded(...spelled(network)))).toEqual(same);
  });

  test('every IPv6 address has its own quota', async () => {
    const at = `2001:db8:${network}`;
    expect(await limited(behindProxies, ...forwarded(`${at}::1`, `${at}::2`, `${at}::3`))).toEqual(others);
  });

  test('with ratelimit.ipv6_prefix an IPv6 network shares a quota, at once and in the usage', async () => {
    const { settings } = behindProxies.server.runtime;
    const staff = await behindProxies.server.tokens.issue({ role: 'admin', id: 7, perms: ['system:config'] });
    const usage = async (address: string) => {
      const query = `kind=ip&key=${encodeURIComponent(address)}`;
      return (await behindProxies.call('GET', `/api/admin/ratelimit/usage?${query}`, { token: staff })).data;
    };
    await settings.set('ratelimit.ipv6_prefix', 64);
    try {
      const at = `2001:db8:${network}`;
      expect(await limited(behindProxies, ...forwarded(`${at}::1`, `${at}::ffff:2`, `${at}:0:9::3`))).toEqual(same);
      expect(await limited(behindProxies, ...forwarded(`${at}:1::1`, `${at}:2::1`, `${at}:3::1`))).toEqual(others);
      for (const address of [`${at}::77`, `${at}::/64`])
        expect(await usage(address)).toMatchObject({ key: `${at}:0::/64`, requests: 2 });
    } finally {
      await settings.unset('ratelimit.ipv6_prefix');
    }
  });

  test('X-Real-IP is used without X-Forwarded-For, which has precedence', async () => {
    const at = `198.51.${network}`;
    expect(await limited(behindProxies, ...real(`${at}.1`, `${at}.1`, `${at}.1`))).toEqual(same);
    const both = { 'x-real-ip': `${at}.1`, 'x-forwarded-for': `198.53.${network}.1` };
    expect(await limited(behindProxies, both)).toEqual([false]);
  });

  test('the last address of a chain that is not a trusted proxy is used, because earlier ones can be forged', async () => {
    const at = `198.51.${network}`;
    const chains = [`1.1.1.1, ${at}.1`, `2.2.2.2,${at}.1, 10.1.2.3`, `garbage, 3.3.3.3, ${at}.1, 10.1.9.9, 127.0.0.9`];
    expect(await limited(behindProxies, ...forwarded(...chains))).toEqual(same);
    // A proxy that is not trusted is a client.
    expect(await limited(behindProxies, ...forwarded(`${at}.1, 10.2.${network}.3`))).toEqual([false]);
  });

  test('headers of an untrusted client are ignored: invented addresses share its quota', async () => {
    const invented = [...forwarded('198.51.1.1', '198.52.1.1'), ...real('198.53.1.1')];
    expect(await limited(direct, ...invented)).toEqual(same);
  });

  test('invalid addresses from a proxy share the quota of the proxy', async () => {
    const garbage = ['unknown', '_hidden', '999.1.1.1', '1.2.3', 'a'.repeat(3_000), '', ',,,', '1.2.3.4.5', '::gg'];
    const seen = await limited(behindProxies, ...forwarded(...garbage), ...real('garbage', '-', '::1::2'));
    expect(seen.slice(0, 2)).toEqual([false, false]);
    expect(seen.slice(2)).toEqual(seen.slice(2).map(() => true));
  });
});
