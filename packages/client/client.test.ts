import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { command, schemaFile, schemaOf } from './generate.ts';
import { createClient, NoAnswerError, RefusalError } from './index.ts';
import { readSnapshots } from './read-snapshots.ts';

/** The typed client: its types are those of the routes, and its errors name the cause of a failure. */
let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

test('the types are those of the route table', async () => {
  const document = (await (await fetch(`${shop.url}/openapi.json`)).json()) as { paths: object; components: object };
  const snapshots = await readSnapshots();
  expect(snapshots).toMatchObject({ paths: document.paths, components: document.components });
  const expected = await schemaOf(snapshots);
  const stored = await readFile(schemaFile, 'utf8');
  expect(stored === expected, `packages/client/schema.ts is not what the routes say: run \`${command}\``).toBe(true);
});

test('the client does not need Node', async () => {
  for (const file of ['index.ts', 'send-request.ts', 'errors.ts', 'types.ts', 'schema.ts']) {
    const text = await readFile(new URL(`./${file}`, import.meta.url), 'utf8');
    expect(text, file).not.toMatch(/from '(?!\.\/)|\b(process|Buffer)\b\./);
  }
});

describe('against the shop', () => {
  test('paths, parameters, bodies and answers are typed; a call returns the data', async () => {
    const { id } = await insertProduct(shop.database, { title: 'Enamel mug', stocks: [3] });
    const client = shop.client();
    const page = await client.get('/api/v1/products', { query: { keyword: 'enamel', size: 5 } });
    expectTypeOf(page.list[0]!.price).toEqualTypeOf<number>();
    expect(page).toMatchObject({ total: 1, size: 5, list: [{ id, price: 12.9 }] });
    const product = await client.get('/api/v1/products/{id}', { path: { id } });
    expectTypeOf(product.skus[0]!.status).toEqualTypeOf<'active' | 'inactive'>();
    expect(product.title).toBe('Enamel mug');
    // The function is compiled and never called. The compiler must refuse each call.
    const mistakes = () => [
      // @ts-expect-error the path does not exist
      client.get('/api/v1/product'),
      // @ts-expect-error the path does not have this method
      client.put('/api/v1/products'),
      // @ts-expect-error the id is missing
      client.get('/api/v1/products/{id}'),
      // @ts-expect-error the page is a number
      client.get('/api/v1/products', { query: { page: 'one' } }),
      // @ts-expect-error the body is missing
      client.post('/api/v1/cart/add', {}),
      // @ts-expect-error a SKU is a number
      client.post('/api/v1/cart/add', { body: { sku_id: 'x' } }),
      // @ts-expect-error reads have no key
      client.get('/api/v1/cart', { idempotencyKey: 'k' }),
      // @ts-expect-error a log-in takes no key, so a repeat would not be safe
      client.post('/api/auth/login', { body: { username: 'a', password: 'b' }, idempotencyKey: true }),
      // @ts-expect-error the cart has no pages
      client.items('/api/v1/cart'),
    ];
    expect(mistakes).toBeTypeOf('function');
  });

  test('a refusal throws with code, status and message in the requested language', async () => {
    const { token } = await shop.shopper();
    const client = shop.client(token);
    const lost = await client.get('/api/v1/products/{id}', { path: { id: 999_999 } }).catch((error) => error);
    expect(lost).toBeInstanceOf(RefusalError);
    expect(lost).toMatchObject({ code: 10002, status: 200, message: 'Product not found', method: 'GET' });
    expect(lost.requestId).not.toBe('');
    const chinese = client.with({ lang: 'zh-CN' });
    await expect(chinese.get('/api/v1/products/{id}', { path: { id: 999_999 } })).rejects.toThrow('商品不存在');
    await expect(shop.client().get('/api/v1/cart')).rejects.toMatchObject({ code: 401, status: 401 });
    await expect(client.get('/api/v1/cart', { token: null })).rejects.toMatchObject({ code: 401 });
    await expect(shop.client().get('/api/v1/cart', { token })).resolves.toEqual([]);
    const bad = client.post('/api/v1/cart/add', { body: { sku_id: -1 } });
    await expect(bad).rejects.toMatchObject({ code: 400, status: 200, message: expect.stringContaining('sku_id') });
  });

  test('a loop over a list gets every item once, and requests no page that it does not need', async () => {
    for (const title of ['Paged one', 'Paged two', 'Paged three', 'Paged four', 'Paged five'])
      await insertProduct(shop.database, { title, stocks: [1] });
    let asked = 0;
    const client = createClient({
      ...{ url: shop.url, lang: 'en' },
      fetch: (input, init) => {
        asked += 1;
        return fetch(input, init);
      },
    });
    const query = { keyword: 'paged', size: 2 };
    const titles: string[] = [];
    for await (const product of client.items('/api/v1/products', { query })) {
      expectTypeOf(product.price).toEqualTypeOf<number>();
      titles.push(product.title);
    }
    expect([titles.length, new Set(titles).size, asked]).toEqual([5, 5, 3]);
    const sizes: number[] = [];
    for await (const { list, total } of client.pages('/api/v1/products', { query: { ...query, page: 2 } })) {
      expect(total).toBe(5);
      sizes.push(list.length);
    }
    expect(sizes).toEqual([2, 1]);
    asked = 0;
    for await (const _ of client.items('/api/v1/products', { query })) break;
    expect(asked).toBe(1);
    await expect(client.items('/api/v1/orders').next()).rejects.toMatchObject({ code: 401 });
  });

  test('an order whose answer was lost is placed once', async () => {
    const { sku_ids } = await insertProduct(shop.database, { title: 'Teapot', stocks: [10] });
    const { token, address_id } = await shop.shopper();
    let losses = 0;
    const client = createClient({
      ...{ url: shop.url, token, lang: 'en' },
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        losses += 1;
        if (losses < 3) throw new TypeError('connection lost');
        return answer;
      },
    });
    const body = { address_id, items: [{ sku_id: sku_ids[0]!, qty: 1 }] };
    const order = await client.post('/api/v1/orders', { body, idempotencyKey: crypto.randomUUID(), retry: 3 });
    expect(order.status).toBe(1);
    const [row] = await shop.database.sql<{ n: number }[]>`
      select count(*)::int as n from orders.order_items where sku_id = ${sku_ids[0]!}`;
    expect(row!.n).toBe(1);
    expect(losses).toBe(3);
  });
});

describe('against a failing server', () => {
  let server: Server | undefined;
  let asked = 0;
  const serve = async (listener: RequestListener) => {
    asked = 0;
    server = createServer((request, response) => {
      asked += 1;
      listener(request, response);
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    return createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs: 2_000 });
  };
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });
  const noAnswer = async (work: Promise<unknown>) => {
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NoAnswerError);
    return (error as NoAnswerError).reason;
  };
  const busy: RequestListener = (_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end('{"code":503,"message":"busy","msg":"busy","data":null}');
  };

  test('distinguishes a missing connection, a timeout, an abort and an answer of another program', async () => {
    const unreachable = createClient({ url: 'http://127.0.0.1:9', timeoutMs: 2_000 });
    expect(await noAnswer(unreachable.get('/api/v1/products'))).toBe('unreachable');
    const client = await serve((request, response) => {
      if (request.url?.startsWith('/api/v1/cart')) response.writeHead(502).end('<html>Bad gateway</html>');
    });
    expect(await noAnswer(client.get('/api/v1/products', { timeoutMs: 50 }))).toBe('timeout');
    const abort = new AbortController();
    const givenUp = noAnswer(client.get('/api/v1/products', { signal: abort.signal, retry: 5 }));
    abort.abort();
    expect(await givenUp).toBe('aborted');
    expect(await noAnswer(client.get('/api/v1/cart'))).toBe('not_an_envelope');
  });

  test('repeats reads and keyed writes as often as `retry` allows, and never a write without a key', async () => {
    const client = await serve(busy);
    await expect(client.get('/api/v1/products', { retry: 2 })).rejects.toMatchObject({ status: 503 });
    expect(asked).toBe(3);
    await expect(client.get('/api/v1/products')).rejects.toBeInstanceOf(RefusalError);
    expect(asked).toBe(4);
    const pay = { path: { id: 1 }, retry: 2 };
    await expect(client.post('/api/v1/orders/{id}/pay', pay)).rejects.toMatchObject({ status: 503 });
    expect(asked).toBe(5);
    await expect(client.post('/api/v1/orders/{id}/pay', { ...pay, idempotencyKey: 'k' })).rejects.toThrow('busy');
    expect(asked).toBe(8);
  });

  test('a late success is returned, and every repeat has the same key', async () => {
    const keys: unknown[] = [];
    const client = await serve((request, response) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length < 3) return busy(request, response);
      response.end('{"code":0,"message":"success","msg":"success","data":null}');
    });
    expect(
      await client.post('/api/v1/orders/{id}/pay', { path: { id: 1 }, retry: 5, idempotencyKey: 'once' }),
    ).toBeNull();
    expect(keys).toEqual(['once', 'once', 'once']);
    // `true` makes one key for all attempts of a call, and another one for the next call.
    for (const _ of [1, 2]) {
      keys.length = 0;
      await client.post('/api/v1/orders/{id}/pay', { path: { id: 1 }, retry: 5, idempotencyKey: true });
      expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
      expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
    }
  });
});
