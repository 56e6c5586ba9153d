import type { Route } from '@tradepost/http';
import { auditViolations } from '@tradepost/testing/audit-violations';
import {
  deep,
  type Field,
  fieldsOf,
  huge,
  inputSchema,
  type Json,
  kindsOf,
  label,
  nastyTexts,
  notNumbers,
  valid,
  withAt,
  wrongKinds,
} from '@tradepost/testing/routes/inputs';
import { formOf } from '@tradepost/testing/routes/multipart';
import { sendRequest } from '@tradepost/testing/send-request';
import { insertProduct, openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bodyLimitOf } from '../../packages/http/routing/body-limits.ts';

/**
 * Every input to every route gets an envelope: no 5xx, no hang, and the refusal names an invalid field. Inputs are made of the
 * schemas of each route, so new routes are included.
 */
let shop: Shop;
let tokens: Record<string, string | undefined>;
beforeAll(async () => {
  shop = await openShop();
  // Examples use id 1. Product 1 is edited; SKU 1 belongs to product 2, which stays on sale.
  await insertProduct(shop.database, { stocks: [] });
  await insertProduct(shop.database, { stocks: [100_000_000] });
  const shopper = (await shop.shopper()).token;
  const staff = await shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  tokens = { public: undefined, optional: shopper, shopper, any: shopper, staff };
});
afterAll(() => shop?.close());

type Input = { path?: string; query?: string; body?: string };
type Result = { status: number; code: number; message: string };

/** Sends a request. Throws unless the answer is an envelope with an HTTP status below 500. */
async function send(route: Route, { path, query = '', body }: Input, description: string): Promise<Result> {
  // A logout ends its token, so it gets a new one.
  const token =
    route.path === '/api/auth/logout'
      ? await shop.server.tokens.issue({ role: 'user', id: 1, perms: [] })
      : tokens[route.auth];
  const example = body === undefined && route.body ? valid(inputSchema(route.body)) : undefined;
  const form =
    example !== undefined && route.bodyStream ? formOf(route, example as Record<string, unknown>) : undefined;
  const sent = body ?? form ?? (example !== undefined ? JSON.stringify(example) : undefined);
  const at = `${label(route)} with ${description}`;
  const { status, headers, text } = await sendRequest(`${shop.url}${path ?? pathOf(route)}${query}`, {
    method: route.method,
    headers: {
      'accept-language': 'en',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(sent !== undefined && sent !== form ? { 'content-type': 'application/json' } : {}),
    },
    ...(sent !== undefined && route.method !== 'GET' ? { body: sent } : {}),
    timeoutMs: 10_000,
  }).catch((error: unknown) => {
    throw new Error(`${at}: no answer: ${String(error)}`);
  });
  if (status >= 500) throw new Error(`${at}: ${status} ${text}`);
  // A file has no envelope.
  const type = headers.get('content-type');
  if (route.file && type?.startsWith(route.file.type)) return { status, code: 0, message: 'success' };
  const answer = JSON.parse(text) as Result & { msg: string; data: unknown };
  if (
    typeof answer.code !== 'number' ||
    typeof answer.message !== 'string' ||
    answer.msg !== answer.message ||
    !('data' in answer)
  )
    throw new Error(`${at}: no envelope: ${text.slice(0, 200)}`);
  // Code 500 with HTTP 200 is a refusal by a rule in the contract. A fault of the server has HTTP 500.
  return { status, code: answer.code, message: answer.message };
}

function pathOf(route: Route, put: Record<string, string> = {}): string {
  const params = route.params ? (valid(inputSchema(route.params)) as Record<string, unknown>) : {};
  return route.path.replace(/:(\w+)/g, (_, name: string) => put[name] ?? String(params[name] ?? 1));
}

/** Collects the faults of many requests, so that one run shows all of them. */
async function collect(work: (fail: (fault: string) => void) => Promise<void>): Promise<void> {
  const faults: string[] = [];
  await work((fault) => faults.push(fault));
  expect(faults).toEqual([]);
}
const attempt = async (fail: (fault: string) => void, check: () => Promise<void>) =>
  check().catch((error: unknown) => fail((error as Error).message));
const show = (value: unknown) => (JSON.stringify(value) ?? 'undefined').slice(0, 60);

/** Throws unless the request was refused with code 400 and the name of the field. */
function expectNamed(got: Result, field: string, at: string): void {
  if (got.code !== 400 || !got.message.includes(field))
    throw new Error(`${at}: expected 400 naming ${field}, got ${got.code} ${got.message.slice(0, 120)}`);
}

/** Runs `visit` for every route that has this part. */
function everyRoute(
  part: 'params' | 'query' | 'body',
  title: string,
  visit: (route: Route, schema: Json, fields: Field[], fail: (fault: string) => void) => Promise<void>,
) {
  test(
    `${title} (${part} of every route)`,
    () =>
      collect(async (fail) => {
        // The form of a streamed route is not parsed with its schema.
        const routes = shop.server.routes.filter((route) => route[part] && !(part === 'body' && route.bodyStream));
        expect(routes.length).toBeGreaterThan(0);
        // Six routes at a time. The requests of one route are sent one after the other.
        const remaining = [...routes];
        const visitNext = async () => {
          for (let route = remaining.shift(); route; route = remaining.shift()) {
            const schema = inputSchema(route[part]!);
            await visit(route, schema, fieldsOf(schema), fail);
          }
        };
        await Promise.all(Array.from({ length: 6 }, visitNext));
      }),
    // A bound for a hang, on a machine that does other work too.
    600_000,
  );
}

test('the valid input of every route is accepted, so later refusals have no other reason', () =>
  collect(async (fail) => {
    for (const route of shop.server.routes.filter((r) => r.method !== 'DELETE'))
      await attempt(fail, async () => {
        // Some routes require a query field.
        const fields = route.method === 'GET' && route.query ? (valid(inputSchema(route.query)) as object) : {};
        const query = `?${new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]))}`;
        const got = await send(route, { query }, 'a valid input');
        if (got.code === 400) throw new Error(`${label(route)}: ${got.message}`);
      });
    const [row] = await shop.database.sql`select count(*)::int as n from orders.orders`;
    if (row!.n === 0) fail('no order was placed');
  }));

everyRoute('params', 'a path parameter that is not an id is refused by name', async (route, _schema, fields, fail) => {
  for (const { name, schema } of fields.filter((field) => kindsOf(field.schema).has('number')))
    for (const value of [
      'abc',
      '0',
      '-1',
      '1.5',
      '%20',
      '9007199254740992',
      ...notNumbers.map(encodeURIComponent),
      'undefined',
      '1%00',
      "1'--",
      '__proto__',
    ])
      await attempt(fail, async () => {
        const got = await send(route, { path: pathOf(route, { [name]: value }) }, `${name}=${value.slice(0, 40)}`);
        if (got.status !== 200) throw new Error(`${label(route)} ${name}=${value}: HTTP ${got.status}`);
        expectNamed(got, name, `${label(route)} ${name}=${value.slice(0, 40)}, ${schema.type}`);
      });
});

let unusualForms = 0;
everyRoute(
  'query',
  'a query value of the wrong kind is refused by name, and unusual values cause no fault',
  async (route, _schema, fields, fail) => {
    for (const { name, schema } of fields) {
      const isNumber = kindsOf(schema).has('number');
      for (const value of [...notNumbers, 'wrong', '[]', '{}', '1.5x'])
        await attempt(fail, async () => {
          const got = await send(
            route,
            { query: `?${name}=${encodeURIComponent(value)}` },
            `${name}=${value.slice(0, 40)}`,
          );
          if (isNumber) expectNamed(got, name, `${label(route)} ${name}=${value.slice(0, 40)}`);
        });
      const unusual = [...huge.map(String), ...nastyTexts, 'x'.repeat(3_000), '%', '%%%', '_'];
      for (const value of unusual)
        await attempt(
          fail,
          async () =>
            void (await send(
              route,
              { query: `?${name}=${encodeURIComponent(value.toWellFormed())}` },
              `${name}=${show(value)}`,
            )),
        );
      // The forms do not depend on the value: each field has another one.
      const value = unusual[unusualForms++ % unusual.length]!;
      const forms = `?${name}[]=1&${name}[a]=2&${name}=1&${name}=${encodeURIComponent(value.toWellFormed())}`;
      await attempt(fail, async () => void (await send(route, { query: forms }, `${name} in many forms`)));
    }
  },
);

everyRoute('body', 'a missing required field is refused by name', async (route, schema, fields, fail) => {
  for (const { path, name } of fields.filter((field) => field.required))
    for (const missing of [undefined, null])
      await attempt(fail, async () => {
        const body = JSON.stringify(withAt(valid(schema), path, missing));
        expectNamed(
          await send(route, { body }, `${name} ${missing}`),
          name,
          `${label(route)} ${path.join('.')} ${missing}`,
        );
      });
});

everyRoute('body', 'a field of the wrong kind is refused by name', async (route, schema, fields, fail) => {
  for (const { path, name, schema: field } of fields)
    for (const [kind, value] of wrongKinds(field))
      await attempt(fail, async () => {
        const body = JSON.stringify(withAt(valid(schema), path, value));
        expectNamed(
          await send(route, { body }, `${name} ${kind}`),
          name,
          `${label(route)} ${path.join('.')} as ${kind}`,
        );
      });
});

everyRoute(
  'body',
  'huge and unusual numbers cause no fault, and a text that is not a number is refused by name',
  async (route, schema, fields, fail) => {
    for (const { path, name, schema: field } of fields.filter(
      (f) => kindsOf(f.schema).has('number') || kindsOf(f.schema).size === 0,
    )) {
      for (const value of huge)
        await attempt(
          fail,
          async () =>
            void (await send(route, { body: JSON.stringify(withAt(valid(schema), path, value)) }, `${name}=${value}`)),
        );
      // JSON.stringify cannot write these numbers.
      for (const raw of ['1e400', '-1e400', `1${'0'.repeat(400)}`, '1e308'])
        await attempt(fail, async () => {
          const body = JSON.stringify(withAt(valid(schema), path, '@@')).replace('"@@"', raw);
          const got = await send(route, { body }, `${name}=${raw.slice(0, 10)}`);
          if (kindsOf(field).size > 0) expectNamed(got, name, `${label(route)} ${path.join('.')}=${raw.slice(0, 10)}`);
        });
      if (kindsOf(field).has('string') || kindsOf(field).size === 0) continue;
      const acceptsBooleans = kindsOf(field).has('boolean');
      for (const value of notNumbers.filter((text) => !(acceptsBooleans && text === 'true')))
        await attempt(fail, async () => {
          const got = await send(
            route,
            { body: JSON.stringify(withAt(valid(schema), path, value)) },
            `${name}=${value.slice(0, 20)}`,
          );
          expectNamed(got, name, `${label(route)} ${path.join('.')}=${value.slice(0, 20)}`);
        });
    }
  },
);

everyRoute('body', 'a number that is sent as text is accepted as the number', async (route, schema, fields, fail) => {
  const base = valid(schema);
  for (const { path, name, schema: field } of fields.filter(
    (f) => kindsOf(f.schema).has('number') && !kindsOf(f.schema).has('string'),
  ))
    for (const value of [`${valid(field)}`, ` ${valid(field)} `])
      await attempt(fail, async () => {
        const got = await send(route, { body: JSON.stringify(withAt(base, path, value)) }, `${name}=${show(value)}`);
        if (got.code === 400 && got.message.includes(name))
          throw new Error(`${label(route)} ${path.join('.')}=${show(value)}: ${got.message}`);
      });
});

everyRoute(
  'body',
  'texts that often break databases are stored or refused and cause no fault',
  async (route, schema, fields, fail) => {
    for (const { path, name, schema: field } of fields.filter(
      (f) => kindsOf(f.schema).has('string') || kindsOf(f.schema).size === 0 || f.schema.additionalProperties,
    )) {
      for (const value of nastyTexts) {
        const bodies = [withAt(valid(schema), path, value)];
        // In free-form values the text is also sent as a key, and in the form of page content.
        if (kindsOf(field).size === 0 || field.additionalProperties) {
          bodies.push(
            withAt(valid(schema), path, {
              version: 1,
              blocks: [{ id: value, type: value, props: { [value]: value, b: [value] } }],
            }),
          );
          bodies.push(withAt(valid(schema), path, { [value]: value }));
        }
        for (const body of bodies)
          await attempt(
            fail,
            async () => void (await send(route, { body: JSON.stringify(body) }, `${path.join('.')}=${show(value)}`)),
          );
      }
      if (field.maxLength)
        await attempt(fail, async () => {
          const long = 'x'.repeat(Math.max(field.maxLength! + 1, bodyLimitOf(route) - 8192));
          const body = JSON.stringify(withAt(valid(schema), path, long));
          const got = await send(route, { body }, `${name} very long`);
          expectNamed(got, name, `${label(route)} ${path.join('.')} of ${long.length} characters`);
        });
    }
  },
);

everyRoute('body', 'a value of 10,000 levels in any field causes no fault', async (route, schema, fields, fail) => {
  const nested = [deep(10_000), '['.repeat(10_000) + ']'.repeat(10_000)];
  for (const body of nested) await attempt(fail, async () => void (await send(route, { body }, 'a deep body')));
  for (const { path, schema: field } of fields)
    for (const raw of nested) {
      const bodies = [withAt(valid(schema), path, '@@')];
      if (kindsOf(field).size === 0)
        bodies.push(
          withAt(valid(schema), path, { version: 1, blocks: [{ id: 'a', type: 'text', props: { a: '@@' } }] }),
        );
      for (const template of bodies)
        await attempt(
          fail,
          async () =>
            void (await send(route, { body: JSON.stringify(template).replace('"@@"', raw) }, `${path.join('.')} deep`)),
        );
    }
});

everyRoute(
  'body',
  'a body that is not an object, repeated keys and prototype keys cause no fault',
  async (route, schema, fields, fail) => {
    // An empty list is valid although its elements have required fields.
    const required = fields.find((field) => field.required && typeof field.path[0] === 'string');
    for (const body of ['[]', '[1,2]', 'null', 'true', '0', '"text"', '[[]]', '[null]'])
      await attempt(fail, async () => {
        const got = await send(route, { body }, `body ${body}`);
        if (required && got.code === 0)
          throw new Error(`${label(route)}: body ${body} succeeded although ${required.name} is required`);
      });
    const good = JSON.stringify(valid(schema)).slice(1);
    for (const extra of [
      '"__proto__":{"polluted":true,"status":1},',
      '"constructor":{"prototype":{"polluted":true}},',
      '"hasOwnProperty":1,"toString":1,"valueOf":null,',
      '"__proto__":null,',
      '"":1,',
    ])
      await attempt(fail, async () => {
        await send(route, { body: good === '}' ? `{${extra.slice(0, -1)}}` : `{${extra}${good}` }, extra);
        if ('polluted' in {}) throw new Error(`${label(route)}: ${extra} reached Object.prototype`);
      });
    for (const { path, schema: field } of fields.filter((f) => f.path.length === 1 && typeof f.path[0] === 'string'))
      await attempt(fail, async () => {
        // As in other JSON parsers, the last of two equal keys is used.
        const body = `{"${path[0]}":{"wrong":[]},${JSON.stringify({ [path[0]!]: valid(field) }).slice(1)}`;
        await send(route, { body }, `${path[0]} twice`);
      });
    for (const { path } of fields)
      for (const value of [
        JSON.parse('{"__proto__":{"x":1}}'),
        { constructor: 1 },
        Array.from({ length: 5_000 }, () => null),
        Array.from({ length: 5_000 }, (_, i) => i),
      ])
        await attempt(
          fail,
          async () =>
            void (await send(
              route,
              { body: JSON.stringify(withAt(valid(schema), path, value)) },
              `${path.join('.')} = ${show(value)}`,
            )),
        );
  },
);

test('routes without a body ignore any body', () =>
  collect(async (fail) => {
    for (const route of shop.server.routes.filter((r) => !r.body && r.method !== 'GET'))
      for (const body of ['{', '[]', 'null', deep(10_000), 'x'.repeat(100_000), '\u0000'])
        await attempt(fail, async () => void (await send(route, { body }, `body ${body.slice(0, 10)}`)));
  }));

test('after these requests all lists and details can be read, and the audits pass', async () => {
  await collect(async (fail) => {
    for (const route of shop.server.routes.filter((r) => r.method === 'GET')) {
      const [last] = await shop.database.sql`select max(id) as id from catalog.products`;
      for (const id of ['1', String(last!.id)])
        for (const lang of ['en', 'zh-CN'])
          await attempt(
            fail,
            async () =>
              void (await send(route, { path: pathOf(route, { id }), query: `?size=100&lang=${lang}` }, 'afterwards')),
          );
    }
  });
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
