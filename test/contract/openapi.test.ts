import { existsSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Route } from '@tradepost/http';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The API document and its page describe the behaviour of the server. */
let shop: Shop;
// biome-ignore lint/suspicious/noExplicitAny: a JSON document
let document: any;
beforeAll(async () => {
  shop = await openShop();
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
  ...Object.values(part.examples ?? {}).map((example: Part) => resolve(example).value),
];

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
      const open = route.auth === 'public' ? [] : route.auth === 'optional' ? [{}, { bearer: [] }] : [{ bearer: [] }];
      expect(operation.security, label(route)).toEqual(open);
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
        if (parameter.name !== 'lang')
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
            .map((p: Part) => [p.name, p.example]),
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
  }, 60_000);
});
