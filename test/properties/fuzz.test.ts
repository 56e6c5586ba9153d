import type { Route } from '@tradepost/http';
import { invariantErrors } from '@tradepost/testing/invariants';
import {
  fitting,
  jsonText,
  oddAuthorization,
  oddBody,
  oddHeaders,
  oddQuery,
  oddSegments,
  oneWrong,
} from '@tradepost/testing/routes/fuzz';
import { inputSchema, type Json, label, valid, withAt } from '@tradepost/testing/routes/inputs';
import { openRouteRequests, type RouteRequests } from '@tradepost/testing/routes/route-requests';
import { changed, openTraces } from '@tradepost/testing/routes/traces';
import { openShop, type Shop } from '@tradepost/testing/shop';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

/**
 * Requests that nobody thought of, made of every route's schemas. FUZZ_SEED repeats a run, FUZZ_RUNS makes it longer
 * (batches of requests for each route and property).
 */
const seed = Number(process.env.FUZZ_SEED ?? 20_260_301);
const runs = Number(process.env.FUZZ_RUNS ?? 4);
/** Requests sent at once: some meet on the same rows. */
const atOnce = 8;
const deadlineMs = 5_000;
const limitMs = 60_000 + runs * 15_000;

let shop: Shop;
let mine: RouteRequests;
let theirs: RouteRequests;
let traces: Awaited<ReturnType<typeof openTraces>>;
/** Of both shoppers, of the catalogue and of nobody. */
let ids: number[];
beforeAll(async () => {
  console.info(`FUZZ_SEED=${seed} FUZZ_RUNS=${runs}`);
  shop = await openShop();
  mine = await openRouteRequests(shop);
  theirs = await openRouteRequests(shop);
  traces = await openTraces(shop.database);
  const made = await Promise.all(
    [mine, theirs].flatMap((world) => [
      world.make('/api/v1/orders', 2, { order: 'unpaid', large: false }),
      world.make('/api/v1/orders', 1, { order: 'paid', large: true }),
      world.make('/api/v1/cart', 1),
      world.make('/api/v1/products', 1),
      Promise.resolve([world.owner.address_id, world.owner.id]),
    ]),
  );
  ids = [...new Set([1, 2, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER, ...(made.flat() as number[])])];
});
afterAll(() => shop?.close());

type Request = { path: string; query: string; body?: string | undefined; headers: Record<string, string> };

/** A new token each time: some routes end those of their account. */
async function tokenOf(route: Route): Promise<string | undefined> {
  if (route.auth === 'public') return undefined;
  if (route.auth === 'staff') return shop.server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
  return shop.server.tokens.issue({ role: 'user', id: mine.owner.id, perms: [] });
}

/** The answer, whose envelope `call` has held against the document. Throws for a 5xx and past the deadline. */
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

/** All at once; the first failure after the last has ended, so that nothing goes on behind the next step. */
async function together<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const settled = await Promise.allSettled(items.map(work));
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

async function refusedAgain(route: Route, requests: readonly Request[]): Promise<void> {
  for (const request of requests) {
    const { 'idempotency-key': _answered, ...headers } = request.headers;
    const before = await traces.rows();
    const { code, message } = await send(route, { ...request, headers });
    if (code !== 0)
      expect(changed(before, await traces.rows()), `has other rows although refused: ${code} ${message}`).toEqual([]);
  }
}

const exactPath = (path: string) => new URL(path, 'http://shop').pathname === path;
const json = { 'content-type': 'application/json' };

/** Path segments: `params` for each route parameter. */
function pathWith(route: Route, params: Record<string, string>): string {
  return route.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '1');
}

function fittingPath(route: Route): fc.Arbitrary<string> {
  if (!route.params) return fc.constant(route.path);
  return fitting(inputSchema(route.params), ids)
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
    .filter(exactPath);
}

function fittingQuery(schema: Json): fc.Arbitrary<Record<string, string>> {
  return fitting(schema, ids).map((fields) =>
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

/** One pass over the routes; what is wrong with each, shrunk. */
async function everyRoute(of: (route: Route) => Promise<void> | undefined): Promise<void> {
  const faults: string[] = [];
  for (const route of shop.server.routes)
    await of(route)?.catch((error: Error) => {
      const cause = error.cause instanceof Error ? `\n${error.cause.message}` : '';
      faults.push(
        `${label(route)}: ${error.message.replace(/path: .*?, endOn/, 'endOn').slice(0, 1_500)}${cause.slice(0, 600)}`,
      );
    });
  expect(faults).toEqual([]);
}

const textsOf = (fields: object): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

type Wrong = { request: Request; name: string };
/** Requests that fit but for exactly one field. */
function wrongRequests(route: Route): fc.Arbitrary<Wrong> | undefined {
  const parts: fc.Arbitrary<Wrong>[] = [];
  // Examples are taken whole (bad-input.test.ts), so whatever is refused is the one field.
  const params = route.params ? (valid(inputSchema(route.params)) as object) : {};
  const path = fc.constant(pathWith(route, textsOf(params)));
  const query = fc.constant(
    route.query && route.method === 'GET' ? textsOf(valid(inputSchema(route.query)) as object) : {},
  );
  const body = fc.constant(route.body ? valid(inputSchema(route.body)) : undefined);
  if (route.body && route.method !== 'GET') {
    const wrong = oneWrong(inputSchema(route.body), 'json');
    if (wrong)
      parts.push(
        fc.tuple(path, query, body, wrong).map(([at, fields, value, { field, value: put }]) => ({
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
    const wrong = oneWrong(inputSchema(route.query), 'text');
    if (wrong)
      parts.push(
        fc.tuple(path, query, body, wrong).map(([at, fields, value, { field, value: put }]) => ({
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
    const wrong = oneWrong(inputSchema(route.params), 'text');
    if (wrong)
      parts.push(
        fc.tuple(query, body, wrong).map(([fields, value, { field, value: put }]) => ({
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
  'a request with one wrong field is refused, the field is named, and nothing has changed',
  () =>
    everyRoute((route) => {
      const wrong = wrongRequests(route);
      if (!wrong) return undefined;
      return fc.assert(
        fc.asyncProperty(fc.array(wrong, { minLength: atOnce, maxLength: atOnce }), async (requests) => {
          const before = await traces.contents();
          await together(requests, async ({ request, name }) => {
            const { code, message } = await send(route, request);
            if (code !== 400 || !message.includes(name))
              throw new Error(`expected 400 naming ${name}, got ${code} ${message.slice(0, 200)}`);
          });
          expect(changed(before, await traces.contents()), 'changed although all was refused').toEqual([]);
        }),
        options(route),
      );
    }),
  limitMs,
);

test(
  'whatever comes is answered: an envelope as documented, no 5xx, and no new row where all was refused',
  () =>
    everyRoute((route) => {
      const names = route.query ? Object.keys(inputSchema(route.query).properties ?? {}) : [];
      const params = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
      const oddPath = fc
        .record(Object.fromEntries(params.map((name) => [name, oddSegments])))
        .map((values) => pathWith(route, values))
        .filter(exactPath);
      const request: fc.Arbitrary<Request> = fc.record({
        path: fc.oneof({ weight: 3, arbitrary: fittingPath(route) }, { weight: 1, arbitrary: oddPath }),
        query: fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 2, arbitrary: oddQuery(names) }),
        body: route.body ? oddBody(inputSchema(route.body), ids) : fc.option(oddBody({}, ids), { nil: undefined }),
        headers: fc
          .tuple(oddHeaders, fc.option(oddAuthorization, { nil: undefined, freq: 12 }), fc.integer({ min: 0, max: 5 }))
          .map(([headers, authorization, plain]) =>
            plain > 1 ? json : { ...headers, ...(authorization === undefined ? {} : { authorization }) },
          ),
      });
      const writes = route.method !== 'GET';
      return fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: atOnce, maxLength: atOnce }), async (requests) => {
          const before = writes ? await traces.rows() : null;
          const answers = await together(requests, (one) => send(route, one));
          if (!before) return;
          if (answers.every(({ code }) => code !== 0))
            expect(changed(before, await traces.rows()), 'has other rows although all was refused').toEqual([]);
          // What a rule refused, once more by itself: its neighbours were taken.
          else
            await refusedAgain(route, requests.filter((_, i) => ![0, 400, 401].includes(answers[i]!.code)).slice(0, 2));
        }),
        options(route),
      );
    }),
  limitMs,
);

test(
  'what the schemas call right is answered, and what it left behind can be read',
  () =>
    everyRoute((route) => {
      const request: fc.Arbitrary<Request> = fc.record({
        path: fittingPath(route),
        query: route.query ? fittingQuery(inputSchema(route.query)).map(queryText) : fc.constant(''),
        body: route.body ? fitting(inputSchema(route.body), ids).map(jsonText) : fc.constant(undefined),
        headers: fc.constantFrom<Record<string, string>>(json, { ...json, 'idempotency-key': 'right' }),
      });
      return fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: atOnce, maxLength: atOnce }), async (requests) => {
          await together(requests, (one) => send(route, one));
        }),
        options(route),
      );
    }),
  limitMs,
);

test('afterwards all lists and details answer, and the books are right', async () => {
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
  expect(await invariantErrors(shop.database)).toEqual([]);
});
