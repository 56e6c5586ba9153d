import type { Route } from '@tradepost/http';
import { auditViolations } from '@tradepost/testing/audit-violations';
import {
  jsonText,
  oddAuthorization,
  oddBody,
  oddHeaders,
  oddQuery,
  oddSegments,
  oneInvalidField,
  validValues,
} from '@tradepost/testing/routes/fuzz';
import { inputSchema, type Json, label, valid, withAt } from '@tradepost/testing/routes/inputs';
import { openRouteRequests, type RouteRequests } from '@tradepost/testing/routes/route-requests';
import { changedTables, openTables } from '@tradepost/testing/routes/table-contents';
import { openShop, type Shop } from '@tradepost/testing/shop';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * Random requests, made of the schemas of every route. FUZZ_SEED repeats a run. FUZZ_RUNS is the number of batches for each
 * route and property.
 */
const seed = Number(process.env.FUZZ_SEED ?? 20_260_301);
const runs = Number(process.env.FUZZ_RUNS ?? 2);
/** Requests of a batch are sent at once, so that some use the same rows. */
const atOnce = 8;
const deadlineMs = 5_000;
/** A bound for a hang, on a machine that does other work too. */
const timeoutMs = 300_000 + runs * 60_000;

let shop: Shop;
let callerRequests: RouteRequests;
let otherRequests: RouteRequests;
let tables: Awaited<ReturnType<typeof openTables>>;
/** Ids of objects of both shoppers, of the catalogue, and ids that no object has. */
let ids: number[];
beforeAll(async () => {
  console.info(`FUZZ_SEED=${seed} FUZZ_RUNS=${runs}`);
  shop = await openShop();
  callerRequests = await openRouteRequests(shop);
  otherRequests = await openRouteRequests(shop);
  tables = await openTables(shop.database);
  const made = await Promise.all(
    [callerRequests, otherRequests].flatMap((requests) => [
      requests.make('/api/v1/orders', 2, { order: 'unpaid', large: false }),
      requests.make('/api/v1/orders', 1, { order: 'paid', large: true }),
      requests.make('/api/v1/cart', 1),
      requests.make('/api/v1/products', 1),
      Promise.resolve([requests.owner.address_id, requests.owner.id]),
    ]),
  );
  ids = [...new Set([1, 2, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER, ...(made.flat() as number[])])];
});
afterAll(() => shop?.close());

type Request = { path: string; query: string; body?: string | undefined; headers: Record<string, string> };

/** Issues a new token for each request, because some routes end the tokens of their account. */
async function tokenOf(route: Route): Promise<string | undefined> {
  if (route.auth === 'public') return undefined;
  if (route.auth === 'staff') return shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  return shop.server.tokens.issue({ role: 'user', id: callerRequests.owner.id, perms: [] });
}

/** Sends a request; `call` checks the answer against the document. Throws for a 5xx and after the deadline. */
async function send(route: Route, { path, query, body, headers }: Request) {
  const token = 'authorization' in headers ? undefined : await tokenOf(route);
  const at = `${label(route)} ${path}${query}`.slice(0, 300);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${at}: no answer within ${deadlineMs} ms`)), deadlineMs);
  });
  const answered = shop.call(route.method, path + query, {
    ...(token === undefined ? {} : { token }),
    ...(body === undefined || route.method === 'GET' ? {} : { rawBody: Buffer.from(body) }),
    headers,
  });
  const answer = await Promise.race([answered, late])
    .catch((error: Error) => {
      throw new Error(`${at}: ${error.message} ${error.cause ?? ''}`);
    })
    .finally(() => clearTimeout(timer));
  if (answer.status >= 500) throw new Error(`${at}: HTTP ${answer.status} ${answer.message}`);
  return answer;
}

/** Runs `work` for all items at once and waits until all have ended. Then throws the first failure. */
async function runTogether<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const settled = await Promise.allSettled(items.map(work));
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** Sends refused requests again, one by one, and expects that a refusal adds and removes no row. */
async function repeatRefused(route: Route, requests: readonly Request[]): Promise<void> {
  let before: Map<string, string> | undefined;
  for (const request of requests) {
    const { 'idempotency-key': _answered, ...headers } = request.headers;
    before ??= await tables.rows();
    const { code, message } = await send(route, { ...request, headers });
    if (code === 0) before = undefined;
    else
      expect(
        changedTables(before, await tables.rows()),
        `rows were added or removed by a refused request: ${code} ${message}`,
      ).toEqual([]);
  }
}

/** True when a URL parser does not change the path. */
const isExactPath = (path: string) => new URL(path, 'http://shop').pathname === path;
const json = { 'content-type': 'application/json' };

/** The path of the route with `params` in it. */
function pathWith(route: Route, params: Record<string, string>): string {
  return route.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '1');
}

function validPath(route: Route): fc.Arbitrary<string> {
  if (!route.params) return fc.constant(route.path);
  return validValues(inputSchema(route.params), ids)
    .map((params) =>
      pathWith(
        route,
        Object.fromEntries(
          Object.entries(params as object).map(([name, value]) => [
            name,
            encodeURIComponent(String(value).toWellFormed()) || '1',
          ]),
        ),
      ),
    )
    .filter(isExactPath);
}

function validQuery(schema: Json): fc.Arbitrary<Record<string, string>> {
  return validValues(schema, ids).map((fields) =>
    Object.fromEntries(
      Object.entries(fields as object).map(([name, value]) => [name, String(value).toWellFormed().slice(0, 1_000)]),
    ),
  );
}
const queryText = (fields: Record<string, string>) => `?${new URLSearchParams(fields)}`;

const options = (route: Route) => ({
  seed: seed + shop.server.routes.indexOf(route),
  numRuns: runs,
  interruptAfterTimeLimit: 15_000,
});

/** Checks every route and reports the shrunk counterexample of each fault. */
async function everyRoute(check: (route: Route) => Promise<void> | undefined): Promise<void> {
  const faults: string[] = [];
  for (const route of shop.server.routes)
    await check(route)?.catch((error: Error) => {
      const cause = error.cause instanceof Error ? `\n${error.cause.message}` : '';
      faults.push(
        `${label(route)}: ${error.message.replace(/path: .*?, endOn/, 'endOn').slice(0, 1_500)}${cause.slice(0, 600)}`,
      );
    });
  expect(faults).toEqual([]);
}

const textsOf = (fields: object): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

type InvalidRequest = { request: Request; name: string };
/** Requests with exactly one invalid field. */
function invalidRequests(route: Route): fc.Arbitrary<InvalidRequest> | undefined {
  const parts: fc.Arbitrary<InvalidRequest>[] = [];
  // bad-input.test.ts proves that the examples are accepted, so only the changed field can be refused.
  const params = route.params ? (valid(inputSchema(route.params)) as object) : {};
  const path = fc.constant(pathWith(route, textsOf(params)));
  const query = fc.constant(
    route.query && route.method === 'GET' ? textsOf(valid(inputSchema(route.query)) as object) : {},
  );
  const body = fc.constant(route.body ? valid(inputSchema(route.body)) : undefined);
  if (route.body && !route.bodyStream && route.method !== 'GET') {
    const invalidField = oneInvalidField(inputSchema(route.body), 'json');
    if (invalidField)
      parts.push(
        fc.tuple(path, query, body, invalidField).map(([at, fields, value, { field, value: put }]) => ({
          name: field.name,
          request: {
            path: at,
            query: queryText(fields),
            body: jsonText(withAt(value, field.path, put)),
            headers: json,
          },
        })),
      );
  }
  if (route.query) {
    const invalidField = oneInvalidField(inputSchema(route.query), 'text');
    if (invalidField)
      parts.push(
        fc.tuple(path, query, body, invalidField).map(([at, fields, value, { field, value: put }]) => ({
          name: field.name,
          request: {
            path: at,
            query: queryText({ ...fields, [field.name]: String(put) }),
            body: jsonText(value),
            headers: json,
          },
        })),
      );
  }
  if (route.params) {
    const invalidField = oneInvalidField(inputSchema(route.params), 'text');
    if (invalidField)
      parts.push(
        fc.tuple(query, body, invalidField).map(([fields, value, { field, value: put }]) => ({
          name: field.name,
          request: {
            path: pathWith(route, { ...textsOf(params), [field.name]: encodeURIComponent(String(put)) }),
            query: queryText(fields),
            body: jsonText(value),
            headers: json,
          },
        })),
      );
  }
  return parts.length > 0 ? fc.oneof(...parts) : undefined;
}

test(
  'a request with one invalid field is refused with the name of the field, and no row changes',
  async () => {
    let contents = await tables.contents();
    await everyRoute((route) => {
      const invalid = invalidRequests(route);
      if (!invalid) return undefined;
      const assertRefused = fc.assert(
        fc.asyncProperty(fc.array(invalid, { minLength: atOnce, maxLength: atOnce }), async (requests) => {
          await runTogether(requests, async ({ request, name }) => {
            const { code, message } = await send(route, request);
            if (code !== 400 || !message.includes(name))
              throw new Error(`expected 400 naming ${name}, got ${code} ${message.slice(0, 200)}`);
          });
        }),
        options(route),
      );
      return assertRefused.then(async () => {
        // Once for each route: reading all rows takes longer than the requests.
        const before = contents;
        contents = await tables.contents();
        expect(changedTables(before, contents), 'tables changed although all requests were refused').toEqual([]);
      });
    });
  },
  timeoutMs,
);

test(
  'any input gets a documented answer without a 5xx, and refused requests add or remove no row',
  () =>
    everyRoute((route) => {
      const names = route.query ? Object.keys(inputSchema(route.query).properties ?? {}) : [];
      const params = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
      const oddPath = fc
        .record(Object.fromEntries(params.map((name) => [name, oddSegments])))
        .map((values) => pathWith(route, values))
        .filter(isExactPath);
      const request: fc.Arbitrary<Request> = fc.record({
        path: fc.oneof({ weight: 3, arbitrary: validPath(route) }, { weight: 1, arbitrary: oddPath }),
        query: fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 2, arbitrary: oddQuery(names) }),
        body: route.body ? oddBody(inputSchema(route.body), ids) : fc.option(oddBody({}, ids), { nil: undefined }),
        headers: fc
          .tuple(oddHeaders, fc.option(oddAuthorization, { nil: undefined, freq: 12 }), fc.integer({ min: 0, max: 5 }))
          .map(([headers, authorization, plain]) =>
            plain > 1 ? json : { ...headers, ...(authorization === undefined ? {} : { authorization }) },
          ),
      });
      const writes = route.method !== 'GET';
      let unchanged: Map<string, string> | undefined;
      return fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: atOnce, maxLength: atOnce }), async (requests) => {
          const before = writes ? (unchanged ?? (await tables.rows())) : null;
          unchanged = undefined;
          const answers = await runTogether(requests, (one) => send(route, one));
          if (!before) return;
          if (answers.every(({ code }) => code !== 0)) {
            const after = await tables.rows();
            expect(
              changedTables(before, after),
              'rows were added or removed although all requests were refused',
            ).toEqual([]);
            unchanged = after;
          }
          // Other requests of the batch succeeded: those that a rule refused are sent again alone.
          else
            await repeatRefused(
              route,
              requests.filter((_, i) => ![0, 400, 401].includes(answers[i]!.code)).slice(0, 2),
            );
        }),
        options(route),
      );
    }),
  timeoutMs,
);

test(
  'valid input gets a documented answer without a 5xx',
  () =>
    everyRoute((route) => {
      const request: fc.Arbitrary<Request> = fc.record({
        path: validPath(route),
        query: route.query ? validQuery(inputSchema(route.query)).map(queryText) : fc.constant(''),
        body: route.body ? validValues(inputSchema(route.body), ids).map(jsonText) : fc.constant(undefined),
        headers: fc.constantFrom<Record<string, string>>(json, { ...json, 'idempotency-key': 'right' }),
      });
      return fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: atOnce, maxLength: atOnce }), async (requests) => {
          await runTogether(requests, (one) => send(route, one));
        }),
        options(route),
      );
    }),
  timeoutMs,
);

test('after these requests all lists and details can be read, and the audits pass', async () => {
  await everyRoute((route) => {
    if (route.method !== 'GET') return undefined;
    const read = async () => {
      for (const id of ids.slice(0, 12))
        for (const lang of ['en', 'zh-CN']) {
          const path = pathWith(
            route,
            Object.fromEntries([...route.path.matchAll(/:(\w+)/g)].map((m) => [m[1]!, String(id)])),
          );
          await send(route, { path, query: `?size=100&lang=${lang}`, headers: {} });
          if (!route.params) return;
        }
    };
    return read();
  });
  expect(await auditViolations(shop.database.sql)).toEqual([]);
});
