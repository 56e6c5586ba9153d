import { request } from 'node:http';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterEach, describe, expect, test } from 'vitest';

/**
 * A client that writes the Host header must not choose the address of pictures in pages and caches of other shoppers.
 */
let shop: Shop;
afterEach(() => shop.close());

/** The address of a picture in the answer to a request with this Host header. */
function coverFor(host: string): Promise<string> {
  const { port } = new URL(shop.url);
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path: '/api/v1/products', headers: { host } }, async (answer) => {
      let text = '';
      for await (const chunk of answer) text += chunk;
      resolve(JSON.parse(text).data.list[0].cover);
    });
    asked.once('error', reject).end();
  });
}
async function open(flags: Parameters<typeof openShop>[0]): Promise<void> {
  shop = await openShop(flags);
  const { id } = await insertProduct(shop.database);
  await shop.database.sql`update catalog.products set cover = '/uploads/mug.svg' where id = ${id}`;
}

describe.each(['uws', 'node'])('over %s', (transport) => {
  test('in production without PUBLIC_URL no URL repeats the Host header, not even one of this machine', async () => {
    await open({ transport, production: true });
    for (const host of ['evil.example', 'evil.example:8080', 'localhost:1', '203.0.113.7', 'a@b', '/'])
      expect(await coverFor(host), host).toBe('/uploads/mug.svg');
  });

  test('in production URLs repeat only configured hosts, each with its scheme and port', async () => {
    await open({
      transport,
      production: true,
      publicHosts: 'shop.example, https://www.shop.example, api.shop.example:8443',
    });
    expect(await coverFor('shop.example')).toBe('http://shop.example/uploads/mug.svg');
    expect(await coverFor('SHOP.example')).toBe('http://shop.example/uploads/mug.svg');
    expect(await coverFor('www.shop.example')).toBe('https://www.shop.example/uploads/mug.svg');
    expect(await coverFor('api.shop.example:8443')).toBe('http://api.shop.example:8443/uploads/mug.svg');
    for (const host of ['shop.example:9999', 'api.shop.example', 'evil.example', 'shop.example.evil.example'])
      expect(await coverFor(host), host).toBe('/uploads/mug.svg');
  });

  test('outside production URLs repeat this machine, its addresses and configured hosts, and no other names', async () => {
    await open({ transport, publicHosts: 'shop.test' });
    for (const host of ['localhost:3000', '127.0.0.1:8080', '[::1]:8080', '192.168.1.20:8080', 'shop.test'])
      expect(await coverFor(host), host).toBe(`http://${host}/uploads/mug.svg`);
    for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example'])
      expect(await coverFor(host), host).toBe('/uploads/mug.svg');
  });

  test('PUBLIC_URL has priority over every Host header', async () => {
    await open({ transport, publicUrl: 'https://shop.example/', publicHosts: 'other.example' });
    for (const host of ['other.example', 'evil.example', 'localhost'])
      expect(await coverFor(host), host).toBe('https://shop.example/uploads/mug.svg');
  });
});
