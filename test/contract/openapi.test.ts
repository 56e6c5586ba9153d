import { existsSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Route } from '@tradepost/http';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documentPackages, readTranslations } from '../../packages/app/openapi/translations.ts';

/** The API document and its page describe the behaviour of the server. */
let shop: Shop;
// biome-ignore lint/suspicious/noExplicitAny: a JSON document
let document: any;
beforeAll(async () => {
  shop = await openShop({ seed: 'demo' });
  document = await (await fetch(`${shop.url}/openapi.json`)).json();
});
afterAll(() => shop?.close());

// biome-ignore lint/suspicious/noExplicitAny: a part of the document
type Part = any;
const resolve = (part: Part): Part =>
  part?.$ref
    ? resolve(
        part.$ref
          .slice(2)
          .split('/')
          .reduce((at: Part, key: string) => at[key], document),
      )
    : part;

/**
 * The parts of `value` that do not fit the schema. It checks the keywords that the document uses; an unknown keyword is
 * a fault too.
 */
function misfits(schema: Part, value: unknown, at: string): string[] {
  const { $ref, type, properties, required, items, anyOf, oneOf, allOf, additionalProperties, propertyNames, ...rest } =
    schema;
  if ($ref) return misfits(resolve(schema), value, at);
  const faults: string[] = [];
  const options = anyOf ?? oneOf;
  if (options && !options.some((option: Part) => misfits(option, value, at).length === 0))
    faults.push(`${at}: no option fits ${JSON.stringify(value)}`);
  for (const part of allOf ?? []) faults.push(...misfits(part, value, at));
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const types: string[] = type === undefined ? [] : [type].flat();
  if (types.length > 0 && !types.includes(kind) && !(types.includes('integer') && Number.isInteger(value)))
    faults.push(`${at}: ${kind}, not ${types}`);
  const n = value as number;
  const s = value as string;
  const checks: Record<string, (limit: Part) => boolean> = {
    enum: (list) => list.includes(value),
    const: (wanted) => value === wanted,
    minimum: (limit) => kind !== 'number' || n >= limit,
    maximum: (limit) => kind !== 'number' || n <= limit,
    exclusiveMinimum: (limit) => kind !== 'number' || n > limit,
    minLength: (limit) => kind !== 'string' || s.length >= limit,
    maxLength: (limit) => kind !== 'string' || s.length <= limit,
    pattern: (text) => kind !== 'string' || new RegExp(text, 'u').test(s),
    maxItems: (limit) => kind !== 'array' || (value as unknown[]).length <= limit,
    maxProperties: (limit) => kind !== 'object' || Object.keys(value as object).length <= limit,
    minItems: (limit) => kind !== 'array' || (value as unknown[]).length >= limit,
    format: (name) =>
      name !== 'date-time' || (kind === 'string' && /[+-]\d\d:\d\d$/.test(s) && !Number.isNaN(Date.parse(s))),
  };
  for (const [keyword, limit] of Object.entries(rest)) {
    if (['description', 'examples', 'default', 'title', 'id', '$schema'].includes(keyword)) continue;
    const check = checks[keyword];
    if (!check) faults.push(`${at}: this test does not know the keyword ${keyword}`);
    else if (!check(limit)) faults.push(`${at}: ${JSON.stringify(value)} against ${keyword} ${JSON.stringify(limit)}`);
  }
  if (kind === 'array' && items)
    for (const [i, part] of (value as unknown[]).entries()) faults.push(...misfits(items, part, `${at}[${i}]`));
  if (kind === 'object') {
    const object = value as Record<string, unknown>;
    for (const name of required ?? []) if (!Object.hasOwn(object, name)) faults.push(`${at}.${name} is absent`);
    for (const [name, part] of Object.entries(object)) {
      if (properties?.[name]) faults.push(...misfits(properties[name], part, `${at}.${name}`));
      else if (additionalProperties === false) faults.push(`${at}.${name} is not described`);
      else if (typeof additionalProperties === 'object')
        faults.push(...misfits(additionalProperties, part, `${at}.${name}`));
      if (propertyNames && !properties?.[name]) faults.push(...misfits(propertyNames, name, `${at} key`));
    }
  }
  return faults;
}

const operationOf = (route: Route): Part =>
  document.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()];
const label = (route: Route) => `${route.method} ${route.path}`;
const mediaOf = (part: Part): Part => {
  const content = resolve(part)?.content;
  return content?.['application/json'] ?? content?.['multipart/form-data'];
};
/** The text of a route that answers a file. */
const fileOf = (operation: Part, { file }: Route): Part => operation.responses[200].content[file!.type.split(';')[0]!];
/** All examples of a media type or parameter, under both keywords. */
const examplesOf = (part: Part): unknown[] => [
  ...('example' in part ? [part.example] : []),
  ...(part.schema?.examples ?? []),
  ...Object.values(part.examples ?? {}).map((example: Part) => resolve(example).value),
];

const securityOf = {
  public: [],
  optional: [{}, { shopper: [] }],
  shopper: [{ shopper: [] }],
  staff: [{ staff: [] }],
  any: [{ shopper: [] }, { staff: [] }],
};

describe('/openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  test('has every route, and no path that is not served', async () => {
    for (const route of shop.server.routes) expect(operationOf(route), label(route)).toBeDefined();
    const known = new Set(
      shop.server.routes.map((route) => `${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    for (const [path, methods] of Object.entries(document.paths as Record<string, Part>))
      for (const method of Object.keys(methods)) {
        if (known.has(`${method.toUpperCase()} ${path}`)) continue;
        // The other paths are files and system pages. They must be served.
        const response = await fetch(shop.url + path.replace('{file}', 'none'));
        await response.text();
        expect(path.includes('{') ? 200 : response.status, path).toBe(200);
      }
  });

  test('every operation has a summary, a tag and a unique name; every permission is documented', () => {
    const names = shop.server.routes.map((route) => operationOf(route).operationId);
    expect(new Set(names).size).toBe(names.length);
    const tags = new Set(document.tags.map((tag: { name: string }) => tag.name));
    for (const route of shop.server.routes) {
      const operation = operationOf(route);
      expect(operation.summary, label(route)).toBeTruthy();
      for (const tag of operation.tags) expect(tags).toContain(tag);
      if (route.permission) expect(operation.description, label(route)).toContain(route.permission);
      expect(operation.security, label(route)).toEqual(securityOf[route.auth]);
    }
  });

  test('a write that is tried out twice is two writes, and a list that is tried out has no filters', () => {
    expect(document.components.parameters.idempotencyKey).not.toHaveProperty('example');
    for (const route of shop.server.routes)
      for (const parameter of operationOf(route).parameters.map(resolve))
        if (!parameter.required) expect(parameter, `${label(route)} ${parameter.name}`).not.toHaveProperty('example');
  });

  test('the answer of every operation has `data` exactly with code 0', () => {
    const { code, data } = document.components.schemas.Refusal.properties;
    expect(data).toEqual({ type: 'null' });
    expect(code.enum).not.toContain(0);
    const named = shop.server.routes.flatMap(({ refuses = [] }) => refuses.map(({ refusal }) => refusal.code));
    for (const refusal of named) expect(code.enum).toContain(refusal);
    for (const route of shop.server.routes.filter(({ file }) => !file)) {
      const [success, refusal] = mediaOf(operationOf(route).responses[200]).schema.oneOf;
      expect(success.properties.code, label(route)).toEqual({ type: 'integer', const: 0 });
      expect(refusal).toEqual({ $ref: '#/components/schemas/Refusal' });
    }
  });

  test('exactly the path parameters of each route are described', () => {
    for (const route of shop.server.routes) {
      const inPath = operationOf(route)
        .parameters.map(resolve)
        .filter((parameter: Part) => parameter.in === 'path')
        .map((parameter: Part) => parameter.name);
      expect(inPath.sort(), label(route)).toEqual([...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]).sort());
    }
  });

  test('every operation has an example: of its success, of its body, of each parameter', () => {
    for (const route of shop.server.routes) {
      const operation = operationOf(route);
      const answers = examplesOf(mediaOf(operation.responses[200])) as { code: number }[];
      expect(
        route.file ? examplesOf(fileOf(operation, route)).length > 0 : answers.some((answer) => answer.code === 0),
        label(route),
      ).toBe(true);
      if (route.body && route.method !== 'GET')
        expect(examplesOf(mediaOf(operation.requestBody)), label(route)).not.toEqual([]);
      for (const parameter of operation.parameters.map(resolve))
        if (parameter.in !== 'header' && parameter.name !== 'lang')
          expect(examplesOf(parameter), `${label(route)} ${parameter.name}`).not.toEqual([]);
    }
  });

  test('every example fits the schema beside it', () => {
    const faults: string[] = [];
    const check = (part: Part, at: string) => {
      for (const example of examplesOf(part)) faults.push(...misfits(part.schema, example, at));
    };
    for (const route of shop.server.routes) {
      const operation = operationOf(route);
      for (const parameter of operation.parameters.map(resolve)) check(parameter, `${label(route)} ${parameter.name}`);
      if (operation.requestBody) check(mediaOf(operation.requestBody), `${label(route)} body`);
      if (route.file) check(fileOf(operation, route), `${label(route)} file`);
      // 304 has no body.
      for (const [status, response] of Object.entries(operation.responses))
        if (status !== '304') check(mediaOf(response), `${label(route)} ${status}`);
    }
    expect(faults).toEqual([]);
  });

  test('every example passes the validation of the server', () => {
    const faults: string[] = [];
    const check = (schema: Route['body'], value: unknown, at: string) => {
      const parsed = schema?.safeParse(value);
      if (parsed && !parsed.success) faults.push(`${at}: ${parsed.error.message}`);
    };
    for (const route of shop.server.routes) {
      const operation = operationOf(route);
      const values = (where: string) =>
        Object.fromEntries(
          operation.parameters
            .map(resolve)
            .filter((p: Part) => p.in === where && p.name !== 'lang')
            .map((p: Part) => [p.name, examplesOf(p)[0]]),
        );
      if (route.params) check(route.params, values('path'), `${label(route)} path`);
      if (route.query) check(route.query, values('query'), `${label(route)} query`);
      if (route.body && operation.requestBody)
        check(route.body, mediaOf(operation.requestBody).example, `${label(route)} body`);
      for (const answer of examplesOf(mediaOf(operation.responses[200])) as { code: number; data: unknown }[])
        if (answer.code === 0) check(route.response, answer.data, `${label(route)} answer`);
        else if (answer.data !== null) faults.push(`${label(route)}: a refusal with data`);
    }
    expect(faults).toEqual([]);
  });

  test('each refusal that a route names is an example of its response, with its code and text', () => {
    for (const route of shop.server.routes)
      for (const refuse of route.refuses ?? []) {
        const { code, status, message, refusalName } = refuse();
        const { examples } = mediaOf(operationOf(route).responses[status]);
        expect(examples[refusalName]?.value, `${label(route)} ${refusalName}`).toEqual({
          code,
          message,
          msg: message,
          data: null,
        });
      }
  });

  test('in orders, shipments and after-sale cases every enumerated field has its label beside it', () => {
    const names = ['Order', 'OrderView', 'AdminOrder', 'Shipment', 'AfterSaleCase', 'AfterSaleLog'];
    for (const name of [...names, 'ShopperAfterSaleCase', 'AdminAfterSaleCase']) {
      const fields: Record<string, Part> = document.components.schemas[name].properties;
      const enumerated = Object.keys(fields).filter((field) => fields[field].enum);
      expect(enumerated, name).not.toEqual([]);
      for (const field of enumerated) expect(Object.keys(fields), name).toContain(`${field}_label`);
    }
  });
});

const browserPath = '/usr/bin/chromium';
const hasBrowser = existsSync(browserPath);
if (!hasBrowser) console.log(`skipped: the API reference page is not opened, there is no ${browserPath}`);

describe('the examples of the document', () => {
  const wire = (minor: number) => Math.round(minor * 100) / 100;
  const sumOf = (list: Part[], field: string) => wire(list.reduce((sum, one) => sum + one[field], 0));

  test('amounts of orders, quotes and withdrawals add up', () => {
    let checked = 0;
    const walk = (value: Part, at: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { goods_amount, discount_amount, freight_amount } = value;
      if (goods_amount !== undefined) {
        checked += 1;
        const payable = wire(goods_amount - discount_amount + freight_amount);
        for (const field of ['total_amount', 'payable_amount', 'pay_amount'])
          if (field in value) expect(value[field], `${at}.${field}`).toBe(payable);
        if (value.discounts) expect(sumOf(value.discounts, 'amount'), `${at}.discounts`).toBe(discount_amount);
        if (value.items?.[0]?.payable_amount)
          expect(sumOf(value.items, 'payable_amount') + freight_amount, `${at}.items`).toBe(payable);
        for (const { price, qty } of value.items?.slice(0, 1) ?? [])
          if (price) expect(wire(price * qty), `${at}.items`).toBe(goods_amount);
      }
      if ('actual_amount' in value)
        expect(value.actual_amount, `${at}.actual_amount`).toBe(wire(value.amount - value.fee));
      for (const [name, part] of Object.entries(value)) walk(part, `${at}.${name}`);
    };
    for (const route of shop.server.routes)
      for (const example of examplesOf(mediaOf(operationOf(route).responses[200]))) walk(example, label(route));
    expect(checked).toBeGreaterThan(10);
  });

  test('work in the demo shop: what they name exists, or another example makes it', async () => {
    const tokens = {
      shopper: await shop.login('demo', 'demo123456'),
      staff: await shop.call('POST', '/admin/api/auth/login', { body: { username: 'admin', password: 'admin123' } }),
    };
    const tryOut = async (route: Route): Promise<{ code: number; message: string } | null> => {
      const operation = operationOf(route);
      const parameters: Part[] = operation.parameters.map(resolve).filter((parameter: Part) => parameter.required);
      const query = new URLSearchParams();
      let path = route.path;
      for (const { name, in: where, example } of parameters)
        if (where === 'path') path = path.replace(`:${name}`, encodeURIComponent(String(example)));
        else query.set(name, String(example));
      const token = route.auth === 'staff' ? tokens.staff.data.token : route.auth === 'public' ? null : tokens.shopper;
      const body = operation.requestBody && mediaOf(operation.requestBody).example;
      const response = await fetch(`${shop.url}${path}?${query}`, {
        method: route.method,
        headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return route.file ? null : ((await response.json()) as { code: number; message: string });
    };
    const routeOf = (operation: string) => shop.server.routes.find((route) => label(route) === operation)!;
    // In this order: a quote and an order take what is in the cart, and a case needs a paid order.
    for (const operation of [
      'POST /api/v1/cart/add',
      'PUT /api/v1/cart/qty',
      'POST /api/v1/orders/quote',
      'POST /api/v1/orders',
      'POST /api/v1/orders/:id/pay',
      'PUT /admin/api/orders/:id/ship',
      'POST /api/v1/orders/:id/review',
      'POST /api/v1/group-buy/orders',
      'POST /api/v1/bargain/orders',
      'POST /api/v1/coupons/:id/claim',
      'POST /admin/api/spec-templates',
      'POST /api/admin/api-tokens',
      'POST /api/v1/addresses',
    ])
      expect(await tryOut(routeOf(operation)), operation).toMatchObject({ code: 0 });
    const faults: string[] = [];
    for (const route of shop.server.routes) {
      // Rows that no example makes; a gateway, which does not run; a payment, which the query names in one of two ways.
      if (
        /after-sales|\/ai\/|webhooks|exchanges|distribution|wms\/docs|tracks|ratelimit\/usage|pay\/status/.test(
          route.path,
        )
      )
        continue;
      const answer = route.method === 'GET' ? await tryOut(route) : null;
      if (answer && answer.code !== 0) faults.push(`${label(route)}: ${answer.code} ${answer.message}`);
    }
    expect(faults).toEqual([]);
  });
});

describe('the document in Chinese', () => {
  /** The texts of the document without a Chinese character. */
  const untranslated = (chinese: Part): Set<string> => {
    const found = new Set<string>();
    const isText = (text: unknown): text is string => typeof text === 'string' && /[a-z]{3}/.test(text);
    for (const { name } of chinese.tags)
      if (isText(name) && /^[ -~]+$/.test(name) && name !== 'Webhook') found.add(name);
    for (const methods of Object.values(chinese.paths as Record<string, Part>))
      for (const { summary } of Object.values(methods as Record<string, Part>))
        if (isText(summary) && !/\p{Script=Han}/u.test(summary)) found.add(summary);
    return found;
  };

  test('has a Chinese text for every summary, description and group; without ?lang= it is English', async () => {
    const chinese = (await (await fetch(`${shop.url}/openapi.json?lang=zh-CN`)).json()) as Part;
    expect([...untranslated(chinese)], 'add these to packages/<package>/openapi.zh-CN.json').toEqual([]);
    const translated = new Set(documentPackages.flatMap((name) => Object.keys(readTranslations(name))));
    const described = shop.server.routes.flatMap(({ description }) => description ?? []);
    expect(described.filter((description) => !translated.has(description))).toEqual([]);
    const order = chinese.paths['/api/v1/orders'].post;
    expect(order).toMatchObject({ tags: ['订单'], operationId: 'postApiV1Orders' });
    expect(order.responses[200].content['application/json'].examples.cart_empty.summary).toMatch(/\p{Script=Han}/u);
    const again = await fetch(`${shop.url}/openapi.json`, { headers: { 'accept-language': 'zh-CN' } });
    expect(await again.json()).toEqual(document);
  });

  test('has no translation of a text that the document does not have', async () => {
    const text = JSON.stringify(document);
    const stale = documentPackages.flatMap((name) =>
      Object.keys(readTranslations(name)).filter((english) => !text.includes(JSON.stringify(english).slice(1, -1))),
    );
    expect(stale, 'remove these from packages/<package>/openapi.zh-CN.json').toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('/docs in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: browserPath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      headless: true,
    });
  });
  afterAll(() => browser?.close());

  test('shows every operation and opens one, without errors and without requests to other hosts', async () => {
    // From 150 entries on, the page renders only the entries within the window.
    const context = await browser.newContext({ viewport: { width: 1280, height: 30_000 } });
    const page = await context.newPage();
    const problems: string[] = [];
    const origin = new URL(shop.url).origin;
    context.on('request', (request) => {
      const { protocol } = new URL(request.url());
      if (!request.url().startsWith(`${origin}/`) && protocol !== 'data:' && protocol !== 'blob:')
        problems.push(`request to ${request.url()}`);
    });
    context.on('response', (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
    page.on('requestfailed', (request) => problems.push(`failed: ${request.url()}`));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`page: ${error.message}`));

    await page.goto(`${shop.url}/docs`);
    // The page renders its operations in several steps.
    await page
      .locator('.opblock')
      .nth(shop.server.routes.length - 1)
      .waitFor({ timeout: 30_000 });
    const methods = await page.locator('.opblock-summary-method').allTextContents();
    const paths = await page.locator('.opblock-summary-path').allTextContents();
    // The page inserts zero-width spaces into paths, so that they can wrap.
    const shown = methods.map((method, i) => `${method} ${paths[i]!.replaceAll('\u200b', '')}`);
    for (const route of shop.server.routes)
      expect(shown).toContain(`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`);

    const one = page.locator('.opblock', { has: page.locator('[data-path="/api/v1/products"]') }).first();
    await one.locator('.opblock-summary').click();
    await one.locator('.try-out__btn').click();
    await one.locator('.execute').click();
    await one.locator('.live-responses-table .response-col_status').first().waitFor();
    expect(await one.locator('.live-responses-table .response .response-col_status').first().textContent()).toContain(
      '200',
    );
    expect(problems).toEqual([]);
    await context.close();
  });

  test('in Chinese: finds an operation by words of its summary, and keeps the token of a log-in for the next call', async () => {
    const page = await browser.newPage();
    // Some operations are enough here. The whole document takes long to render.
    await page.route('**/openapi.json?lang=zh-CN', async (route) => {
      const whole = (await (await route.fetch()).json()) as Part;
      const shown = Object.entries(whole.paths).filter(([path]) => /login$|\/cart|addresses/.test(path));
      await route.fulfill({ json: { ...whole, paths: Object.fromEntries(shown) } });
    });
    await page.goto(`${shop.url}/docs?lang=zh-CN`);
    const operation = (path: string) =>
      page.locator('.opblock', { has: page.locator(`[data-path="${path}"]`) }).first();
    const find = async (words: string) => {
      await page.locator('.operation-filter-input').fill(words);
      await page.locator('.opblock').nth(1).waitFor({ state: 'detached' });
    };
    const execute = async (path: string, words: string) => {
      await find(words);
      const one = operation(path);
      await one.locator('.opblock-summary').click();
      await one.locator('.try-out__btn').click();
      await one.locator('.execute').click();
      const status = one.locator('.live-responses-table .response .response-col_status').first();
      await status.waitFor();
      return status.textContent();
    };
    expect(await execute('/api/v1/cart', '我的购物车')).toContain('401');
    expect(await execute('/api/auth/login', '买家 管理员登录')).toContain('200');
    await find('我的购物车');
    await operation('/api/v1/cart').locator('.execute').click();
    await operation('/api/v1/cart').locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    await page.close();
  });
});
