import { connect } from 'node:net';
import { chinese } from '@tradepost/testing/routes/contract';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Tolerances for the input of clients, and the form of faults, on both transports. */
describe.each(['uws', 'node'] as const)('on %s', (transport) => {
  let shop: Shop;
  let token: string;
  let staff: string;
  let addressId: number;
  let sku: number;
  let product: number;
  beforeAll(async () => {
    shop = await openShop({ transport });
    ({ token, address_id: addressId } = await shop.shopper());
    staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
    const made = await insertProduct(shop.database);
    product = made.id;
    sku = made.sku_ids[0]!;
  });
  afterAll(() => shop?.close());

  const json = { 'content-type': 'application/json' };
  const place = async () =>
    (await shop.call('POST', '/api/v1/orders', { token, body: { address_id: addressId, items: [{ sku_id: sku }] } }))
      .data.id;
  /** A path that fits the pattern of the route. */
  const concrete = (path: string) => path.replace(/:\w+/g, '1');
  const tokenFor = (auth: string) => (auth === 'staff' ? staff : auth === 'public' ? undefined : token);

  describe('queries', () => {
    test('every filter of every list may be empty', async () => {
      const lists = shop.server.routes.filter(
        (route) => route.method === 'GET' && route.query && !route.path.includes(':'),
      );
      expect(lists.length).toBeGreaterThan(3);
      let answered = 0;
      for (const route of lists) {
        const shape = (route.query as unknown as { shape: Record<string, unknown> }).shape;
        const query = Object.keys(shape)
          .map((name) => `${name}=`)
          .join('&');
        const options = { token: tokenFor(route.auth) };
        const plain = await shop.call('GET', route.path, options);
        const empty = await shop.call('GET', `${route.path}?${query}`, options);
        // A route that needs one of its fields does not have it in either case.
        expect([plain.code, empty.code], route.path).toEqual(plain.code === 0 ? [0, 0] : [400, 400]);
        if (plain.code === 0) answered += 1;
        expect(empty.data, `${route.path}?${query}`).toEqual(plain.data);
      }
      expect(answered).toBeGreaterThan(lists.length - 3);
    });

    test.each([
      'page=1&size=2',
      'page=01&size=2',
      'page=1&size=2&nonsense=1',
      'size=5&size=2',
      'page=+1&size=2'.replace('+', '%2B'),
    ])('numbers come as text: %s', async (query) => {
      expect((await shop.call('GET', `/api/v1/products?${query}`)).data).toMatchObject({ page: 1, size: 2 });
    });

    test('unknown names, names without a value and odd ampersands are ignored', async () => {
      for (const query of ['?foo=bar', '?&&&', '?=', '?keyword', '?__proto__=1&constructor=2', '?utm_source=x&page'])
        expect((await shop.call('GET', `/api/v1/products${query}`)).code, query).toBe(0);
    });
  });

  describe('bodies', () => {
    test('an empty body with a JSON content type is {} on POST, PUT and DELETE', async () => {
      const id = await place();
      expect((await shop.call('POST', `/api/v1/orders/${id}/pay`, { token, headers: json })).code).toBe(0);
      expect(
        (await shop.call('POST', `/api/v1/orders/${await place()}/cancel`, { token, headers: json, rawBody: '' })).code,
      ).toBe(0);
      expect(
        (await shop.call('PUT', `/admin/api/products/${product}`, { token: staff, headers: json, rawBody: '' })).code,
      ).toBe(0);
      expect((await shop.call('DELETE', `/api/v1/cart/${sku}`, { token, headers: json })).code).toBe(0);
      const { address_id, token: other } = await shop.shopper();
      expect((await shop.call('DELETE', `/api/v1/addresses/${address_id}`, { token: other, headers: json })).code).toBe(
        0,
      );
    });

    test('a body of blanks is refused as invalid JSON', async () => {
      const answer = await shop.call('POST', '/api/v1/cart/add', { token, headers: json, rawBody: '   ' });
      expect(answer.code === 400 && answer.status < 500).toBe(true);
    });

    test('a content type on GET is ignored', async () => {
      for (const path of ['/api/v1/products', '/api/v1/cart', '/api/v1/orders'])
        expect((await shop.call('GET', path, { token, headers: json })).code).toBe(0);
      expect((await shop.call('GET', '/api/v1/products', { headers: { 'content-type': 'text/plain' } })).code).toBe(0);
    });

    test('the JSON body of a DELETE is read', async () => {
      await shop.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku } });
      await shop.call('DELETE', `/api/v1/cart/${sku}`, { token, body: { activity_product_id: 5 } });
      expect((await shop.call('GET', '/api/v1/cart', { token })).data).toHaveLength(1);
      await shop.call('DELETE', `/api/v1/cart/${sku}`, { token, body: { activity_product_id: 0 } });
      expect((await shop.call('GET', '/api/v1/cart', { token })).data).toEqual([]);
    });

    test('"" and null mean an absent number', async () => {
      for (const blank of ['', null])
        expect(
          (
            await shop.call('POST', '/api/v1/cart/add', {
              token,
              body: { sku_id: sku, qty: blank, activity_product_id: blank },
            })
          ).code,
        ).toBe(0);
    });

    test('unknown and read-only fields are ignored', async () => {
      const body = { sku_id: sku, qty: 1, id: 7, created_at: 'x', product: { id: 3 }, user_id: 99, __v: [1] };
      expect((await shop.call('POST', '/api/v1/cart/add', { token, body })).code).toBe(0);
    });

    test.each([
      'application/json; charset=utf-8',
      'application/json;charset=UTF-8',
      'APPLICATION/JSON',
      'application/vnd.api+json',
      'application/json; charset="utf-8"; x=y',
    ])('content type "%s" is JSON', async (type) => {
      const answer = await shop.call('POST', '/api/v1/cart/add', {
        token,
        headers: { 'content-type': type },
        rawBody: JSON.stringify({ sku_id: sku }),
      });
      expect(answer.code).toBe(0);
    });

    test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application/octet-stream'])(
      'content type "%s" is 415',
      async (type) => {
        const answer = await shop.call('POST', '/api/v1/cart/add', {
          token,
          headers: { 'content-type': type },
          rawBody: 'sku_id=1',
        });
        expect(answer).toMatchObject({ status: 415, code: 415 });
      },
    );

    test.each(['{', '{"sku_id":1', 'undefined', "{'sku_id':1}", '{"a":1}}', '\ufeff{', 'NaN', '[1,]', '{"a":01}'])(
      'malformed JSON %s is 400',
      async (rawBody) => {
        expect(await shop.call('POST', '/api/v1/cart/add', { token, headers: json, rawBody })).toMatchObject({
          status: 400,
          code: 400,
        });
      },
    );

    /** A route that needs a token and declares no limit. */
    const limit = 64 * 1024;
    const sendOf = (size: number) => {
      const bare = JSON.stringify({ sku_id: sku, pad: '' }).length;
      const rawBody = JSON.stringify({ sku_id: sku, pad: 'x'.repeat(size - bare) });
      return shop.call('POST', '/api/v1/cart/add', { token, headers: json, rawBody });
    };
    test('a body of exactly the limit is accepted', async () => {
      expect((await sendOf(limit)).code).toBe(0);
    });

    test.each([limit + 1, 3 * limit])(
      'a body of %s bytes gets 413, and the client can read the answer',
      async (size) => {
        const answer = await sendOf(size);
        expect(answer).toMatchObject({ status: 413, code: 413 });
        expect(answer.message).toContain(String(limit));
      },
    );

    test('the server continues after a body that was too large', async () => {
      await sendOf(3 * limit).catch(() => null);
      expect((await shop.call('GET', '/api/v1/cart', { token })).code).toBe(0);
    });

    test('a body that never ends gets 408, and the connection is closed', async () => {
      const socket = connect(shop.server.transport!.port, '127.0.0.1');
      const head = `POST /api/v1/cart/add HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{`;
      socket.write(head);
      const answer = await new Promise<string>((resolve, reject) => {
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk;
        });
        socket.on('close', () => resolve(text));
        socket.on('error', reject);
        setTimeout(() => reject(new Error('still open after 25 s')), 25_000).unref();
      });
      expect(answer).toContain(' 408 ');
      expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ code: 408, data: null });
    });
  });

  describe('tokens on public routes', () => {
    test.each([
      ['empty bearer, as the app sends while logged out', 'Bearer '],
      ['bearer without blank', 'Bearer'],
      ['malformed', 'Bearer x'],
      ['three parts of nonsense', 'Bearer a.b.c'],
      ['another scheme', 'Basic dXNlcjpwYXNz'],
      ['nothing', ''],
      ['very long', `Bearer ${'x'.repeat(2000)}`],
    ])('%s counts as anonymous', async (_what, authorization) => {
      for (const path of ['/api/v1/products', `/api/v1/products/${product}`])
        expect(await shop.call('GET', path, { headers: { authorization } })).toMatchObject({ status: 200, code: 0 });
      const login = await shop.call('POST', '/api/auth/login', {
        headers: { authorization },
        body: { username: 'x', password: 'y' },
      });
      expect(login).toMatchObject({ status: 200, code: 401, message: 'Invalid username or password' });
    });

    test('an empty bearer token on a route that requires a token gets "Please log in"', async () => {
      expect(await shop.call('GET', '/api/v1/cart', { token: '' })).toMatchObject({
        status: 401,
        code: 401,
        message: 'Please log in',
      });
    });

    test('the scheme may be upper or lower case', async () => {
      for (const scheme of ['bearer', 'BEARER', 'Bearer '])
        expect(
          (await shop.call('GET', '/api/v1/cart', { headers: { authorization: `${scheme} ${token}` } })).code,
        ).toBe(0);
    });
  });

  describe('cross-origin', () => {
    test('OPTIONS gets 204 with the headers on every path, known or not', async () => {
      for (const path of [
        ...shop.server.routes.map((route) => concrete(route.path)),
        '/no/such/path',
        '/',
        '/health',
      ]) {
        const headers = {
          origin: 'http://other.example',
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'authorization,content-type',
        };
        const response = await fetch(shop.url + path, { method: 'OPTIONS', headers });
        expect(response.status, path).toBe(204);
        expect(await response.text()).toBe('');
        expect(response.headers.get('access-control-allow-origin')).toBe('*');
        for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
          expect(response.headers.get('access-control-allow-methods')).toContain(method);
        for (const name of ['content-type', 'authorization', 'x-requested-with'])
          expect(response.headers.get('access-control-allow-headers')?.toLowerCase()).toContain(name);
      }
    });

    test('a page of another origin may read every answer, also faults, and no answer sets a cookie', async () => {
      const answers = [
        await shop.call('GET', '/api/v1/products'),
        await shop.call('GET', '/api/v1/cart'),
        await shop.call('GET', '/nowhere'),
        await shop.call('PATCH', '/api/v1/cart'),
        await shop.call('POST', '/api/v1/cart/add', { token, headers: json, rawBody: '{' }),
        await shop.call('POST', '/api/v1/cart/add', { token, headers: { 'content-type': 'text/plain' }, rawBody: 'x' }),
      ];
      expect(answers.map((answer) => answer.status)).toEqual([200, 401, 404, 405, 400, 415]);
      for (const answer of answers) {
        expect(answer.headers.get('access-control-allow-origin'), String(answer.status)).toBe('*');
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
        expect(answer.headers.get('set-cookie')).toBeNull();
      }
    });
  });

  test('a page of another origin can read the 413 for a body that is too large', async () => {
    const answer = await shop.call('POST', '/api/v1/cart/add', {
      token,
      headers: json,
      rawBody: 'x'.repeat(2 ** 20 + 1),
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });

  describe('faults', () => {
    test('the root shows a browser the way to the API reference, and answers others with its path', async () => {
      const browser = await fetch(`${shop.url}/`, { headers: { accept: 'text/html,*/*' } });
      expect(await browser.text()).toContain('href="/docs"');
      expect(await (await fetch(`${shop.url}/`)).json()).toMatchObject({ docs: '/docs', openapi: '/openapi.json' });
    });

    test('an unknown path gets 404 with the envelope, in the requested language', async () => {
      for (const path of [
        '/api',
        '/api/v1',
        '/api/v1/nothing',
        '/api/v1/orders/1/nothing',
        '/admin/api/nothing',
        '/favicon.ico',
        '//api/v1/products',
      ])
        expect(await shop.call('GET', path), path).toMatchObject({
          status: 404,
          code: 404,
          message: 'No such endpoint',
        });
      expect((await shop.call('GET', '/nothing?lang=zh-CN')).message).toMatch(chinese);
    });

    test('a wrong method gets 405, and the answer names the allowed methods', async () => {
      const methodsOf = new Map<string, string[]>();
      for (const route of shop.server.routes)
        methodsOf.set(route.path, [...(methodsOf.get(route.path) ?? []), route.method]);
      for (const [path, methods] of methodsOf) {
        // A literal path may also fit a parameter of another route. The methods of that route are then correct too.
        const wrong = ['PATCH', 'POST', 'PUT', 'DELETE', 'GET'].find(
          (method) => !methods.includes(method) && !(path === '/api/v1/cart/qty' || path === '/api/v1/cart/add'),
        );
        if (!wrong) continue;
        const answer = await shop.call(wrong, concrete(path), { token });
        expect(answer, `${wrong} ${path}`).toMatchObject({ status: 405, code: 405 });
        for (const method of methods) expect(answer.headers.get('allow')).toContain(method);
      }
    });

    test.each(['%', '%zz', '%E0%A4%A', '%00', '%2e%2e%2f', '%ff', '1%2F2', '%C0%AF', '..%5c..'])(
      '"%s" in a path is an answer, not a crash',
      async (part) => {
        for (const path of [`/api/v1/products/${part}`, `/api/v1/${part}`, `/${part}`]) {
          const response = await fetch(shop.url + path);
          expect(response.status, path).toBeLessThan(500);
          expect(await response.json(), path).toMatchObject({ code: expect.any(Number), data: null });
        }
        // Files have no envelope. A path outside their folder answers 404.
        for (const path of [`/docs/${part}`, `/uploads/demo/${part}`, `/uploads/demo/%2e%2e/${part}`]) {
          const response = await fetch(shop.url + path);
          await response.text();
          expect([400, 404], path).toContain(response.status);
        }
      },
    );

    test('invalid percent-encoding in a query is read as text', async () => {
      for (const query of ['keyword=%', 'keyword=%zz', 'keyword=%E0%A4%A', '%=1', 'keyword=%ff%fe', 'keyword=+%2B+'])
        expect((await shop.call('GET', `/api/v1/products?${query}`)).code, query).toBe(0);
    });

    test.each([1_000, 3_000, 20_000, 200_000])('a path of %s characters is answered', async (length) => {
      const response = await fetch(`${shop.url}/api/v1/products/${'9'.repeat(length)}`).catch(
        (error: unknown) => error as Error,
      );
      // A server may close the connection on a head that it cannot read. It must not hang or answer 5xx. (uWS answers
      // 505 to a broken head.)
      if (response instanceof Error) expect(length).toBeGreaterThan(10_000);
      else expect([200, 404, 414, 431]).toContain(response.status);
      expect((await shop.call('GET', '/api/v1/products')).code).toBe(0);
    });
  });

  test('HEAD answers like GET, without a body', async () => {
    const paths = shop.server.routes
      .filter((route) => route.method === 'GET')
      .map((route) => [concrete(route.path), tokenFor(route.auth)] as const);
    for (const [path, sent] of [
      ...paths,
      ['/health', undefined],
      ['/ping', undefined],
      ['/openapi.json', undefined],
      ['/nowhere', undefined],
    ] as const) {
      const headers = { 'accept-language': 'en', ...(sent ? { authorization: `Bearer ${sent}` } : {}) };
      const get = await fetch(shop.url + path, { headers });
      await get.text();
      const head = await fetch(shop.url + path, { method: 'HEAD', headers });
      expect(await head.text()).toBe('');
      expect([path, head.status, head.headers.get('content-type')]).toEqual([
        path,
        get.status,
        get.headers.get('content-type'),
      ]);
    }
  });

  test('a valid x-request-id is repeated, an invalid one is replaced', async () => {
    for (const path of ['/api/v1/products', '/nowhere', '/api/v1/cart'])
      expect(
        (await shop.call('GET', path, { headers: { 'x-request-id': 'abc-1.2_Z' } })).headers.get('x-request-id'),
      ).toBe('abc-1.2_Z');
    const ids = new Set<string | null>();
    for (const bad of ['a b', 'x'.repeat(65), '<script>', '']) {
      const given = (await shop.call('GET', '/api/v1/products', { headers: { 'x-request-id': bad } })).headers.get(
        'x-request-id',
      );
      expect(given).toMatch(/^[\w.-]{1,64}$/);
      ids.add(given);
    }
    expect(ids.size, 'each is its own').toBe(4);
  });

  test('health answers without an envelope', async () => {
    expect(await (await fetch(`${shop.url}/ping`)).json()).toEqual({ pong: true });
    expect((await fetch(`${shop.url}/health`)).status).toBe(200);
    expect((await fetch(`${shop.url}/ready`)).status).toBe(200);
  });

  test('times have the offset of the shop and not Z', async () => {
    const { data } = await shop.call('GET', `/api/v1/products/${product}`);
    expect(data.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/);
    expect(Math.abs(Date.parse(data.created_at) - Date.now())).toBeLessThan(600_000);
  });
});
