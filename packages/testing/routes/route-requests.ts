import type { Route } from '@tradepost/http';
import { createShopper, createStaff } from '@tradepost/identity';
import type { Shop } from '../shop.ts';
import { loadTestData } from '../test-data.ts';
import { collectionOf, idName, kindOf, missingId, notIds } from './ids.ts';
import { fieldsOf, inputSchema, type Json, label, valid, withAt } from './inputs.ts';
import { type Id, type MakeOptions, type MakerContext, many, type TestShopper } from './makers.ts';

/**
 * Meaningful requests for any route: its examples, with each id replaced by the id of an object that is made for the request.
 * The kind of the object is found in the path before a path parameter, or in the name of a field.
 */
export type RequestOptions = MakeOptions & {
  /** True: the request has an id that no object has. */
  missing?: boolean;
  /** The optional query parameter that is sent. */
  query?: string;
};
type RouteRequest = { path: string; query: string; body: unknown; kinds: Set<string> };
export type RouteRequests = {
  owner: TestShopper;
  staff: string;
  /** Makes objects of a kind. Objects of shoppers belong to the owner. */
  make(kind: string, count: number, options?: MakeOptions): Promise<Id[]>;
  /** Makes a request for the route. `kinds` are the kinds of objects that it names. */
  fill(route: Route, options?: RequestOptions): Promise<RouteRequest>;
  /** The token of the owner or of the administrator. A call that ends its account or token gets the token of a new shopper. */
  tokenFor(route: Route): Promise<string | undefined>;
};

const small: RequestOptions = { order: 'unpaid', large: false };
/** Fields whose value must be unique. */
const unique = /^(name|username|title|code|key)$/;
/** Calls that end the account or the token of the caller. */
const lastCalls = /\/(logout|user\/delete)$/;

const repeat = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** The administrator and the shopper that the examples of the login routes name. */
async function openExampleAccounts({ database: { sql } }: Shop): Promise<number> {
  const [first] = await sql<{ id: number | null }[]>`select min(id) as id from identity.staff`;
  if (first?.id) return first.id;
  await createShopper(sql, { username: 'demo', password: 'demo123456', nickname: 'Demo' });
  return createStaff(sql, { username: 'admin', password: 'admin123' });
}

export async function openRouteRequests(shop: Shop, existingOwner?: TestShopper): Promise<RouteRequests> {
  const { sql } = shop.database;
  await shop.server.runtime.settings.set('pay.sandbox.secret', 'a secret for tests '.repeat(3));
  const makers = Object.assign({}, ...(await loadTestData()).map((data) => data.makers ?? {})) as NonNullable<
    Awaited<ReturnType<typeof loadTestData>>[number]['makers']
  >;
  const owner = existingOwner ?? (await shop.shopper());
  const staffId = await openExampleAccounts(shop);
  const staff = await shop.server.tokens.issue({ role: 'admin', id: staffId, perms: ['*'] });
  let lastNumber = 0;
  const nextNumber = () => {
    lastNumber += 1;
    return lastNumber;
  };
  const send: MakerContext['send'] = async (method, path, token, body) => {
    const answer = await shop.call(method, path, { token, body });
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.message}`);
    return answer.data;
  };
  const context: MakerContext = { shop, sql, owner, staff, send, repeat, nextNumber, make };

  async function make(collection: string, count: number, options: MakeOptions = small): Promise<Id[]> {
    const maker = makers[collection] ?? makers[kindOf(collection)];
    if (maker) return maker(context, count, options);
    return (
      (await makeByPost(collection, count)) ??
      (await firstOfList(collection, count)) ??
      Promise.reject(new Error(`cannot make ${collection}: add a maker to the test data of its package`))
    );
  }
  /** The collection of an id. A maker for this field of this route has the key `POST /api/v1/reviews order_id`. */
  const collectionIn = (route: Route, name: string, where: 'path' | 'fields') => {
    const own = `${label(route)} ${name}`;
    return makers[own] ? own : collectionOf(route, name, where);
  };
  const routeOf = (method: string, path: string) =>
    shop.server.routes.find((route) => route.method === method && route.path === path);

  /** Uses the POST route of the collection, or the POST route of the back office when shoppers can only read. */
  async function makeByPost(collection: string, count: number): Promise<Id[] | null> {
    const post = routeOf('POST', collection) ?? routeOf('POST', `/admin/api/${kindOf(collection)}`);
    if (!post) return null;
    return repeat(count, async () => {
      const { path, body } = await fill(post);
      return (await send('POST', path, await tokenFor(post), body)).id;
    });
  }
  /** Returns ids of objects that exist already. */
  async function firstOfList(collection: string, count: number): Promise<Id[] | null> {
    const list = routeOf('GET', collection);
    if (!list) return null;
    const data = await send('GET', `${collection}?size=100`, await tokenFor(list));
    const rows = (Array.isArray(data) ? data : (data.list ?? [])) as { id?: Id }[];
    const ids = rows.flatMap((row) => (row.id === undefined ? [] : [row.id])).slice(0, count);
    return ids.length > 0 ? ids : null;
  }

  /** Ids for a field. Null keeps the example of the field: staff routes can name objects that tests cannot make. */
  const idsFor = (route: Route, name: string, count: number, options: MakeOptions): Promise<Id[] | null> =>
    make(collectionIn(route, name, 'fields'), count, options).catch((error: Error) => {
      if (route.auth === 'staff') return null;
      throw new Error(`${label(route)}: which object has the id ${name}? ${error.message}`);
    });

  /** The example of a schema with ids of objects. In a large request, lists of ids are as long as allowed, up to `many`. */
  async function filledFields(
    route: Route,
    schema: Json,
    options: RequestOptions,
    kinds: Set<string>,
  ): Promise<unknown> {
    // A schema that is a list is filled as the field of an object.
    if (schema.items?.properties) {
      const inside = await filledFields(route, { type: 'object', properties: { list: schema } }, options, kinds);
      return (inside as { list: unknown }).list;
    }
    const lengthOf = (list: Json) => (options.large ? Math.min(many, (list.maxItems as number) ?? many) : 1);
    const idsOf = async (name: string, count: number): Promise<Id[] | null> => {
      kinds.add(kindOf(collectionOf(route, name, 'fields')));
      const ids = await idsFor(route, name, count, options);
      return ids && options.missing ? [missingId(ids[0]!), ...ids.slice(1)] : ids;
    };
    let value = valid(schema);
    for (const { path, name, schema: of } of fieldsOf(schema)) {
      if (unique.test(name) && of.type === 'string' && !of.enum && path.length === 1 && !/login|GET/.test(label(route)))
        value = withAt(value, path, `${name}${nextNumber()}`.slice(0, (of.maxLength as number) ?? 50));
      if (!idName.test(name) || notIds.has(name) || path.includes(0)) continue;
      const isList = of.type === 'array';
      const ids = await idsOf(name, isList ? lengthOf(of) : 1);
      if (ids) value = withAt(value, path, isList ? ids : ids[0]);
    }
    // A list of objects with one id each gets one object per id.
    for (const [name, part] of Object.entries(schema.properties ?? {})) {
      const names = Object.keys(part.items?.properties ?? {}).filter(
        (inner) => idName.test(inner) && !notIds.has(inner),
      );
      if (names.length !== 1) continue;
      const ids = await idsOf(names[0]!, lengthOf(part));
      if (!ids) continue;
      const one = ((value as Record<string, unknown[]>)[name] ?? [])[0] as object;
      const objects = ids.map((id) => ({ ...one, [names[0]!]: id }));
      value = withAt(value, [name], objects);
    }
    if (Object.hasOwn(schema.properties ?? {}, 'address_id')) value = withAt(value, ['address_id'], owner.address_id);
    return value;
  }

  async function filledPath(route: Route, options: RequestOptions, kinds: Set<string>): Promise<string> {
    let path = route.path;
    for (const [, name] of route.path.matchAll(/:(\w+)/g)) {
      const collection = collectionIn(route, name!, 'path');
      kinds.add(kindOf(collection));
      const [id] = await make(collection, 1, options).catch((error: Error) => {
        throw new Error(`${label(route)}: which object has the id :${name}? ${error.message}`);
      });
      path = path.replace(`:${name}`, encodeURIComponent(String(options.missing && !route.body ? missingId(id!) : id)));
    }
    return path;
  }

  async function filledQuery(route: Route, options: RequestOptions, kinds: Set<string>): Promise<string> {
    if (!route.query) return '';
    const query = new URLSearchParams();
    const schema = inputSchema(route.query);
    const fields = (await filledFields(route, schema, options, kinds)) as Record<string, unknown>;
    // Only required filters are sent: all examples together would find nothing.
    for (const name of Object.keys(schema.properties ?? {}))
      if (schema.required?.includes(name) || name === (options.query ?? 'payment_no') || name === 'sku_ids')
        query.set(name, String(fields[name]));
    for (const name of ['size', 'page_size'])
      if (name in (schema.properties ?? {})) query.set(name, options.large ? '100' : '1');
    return query.size > 0 ? `?${query}` : '';
  }

  async function fill(route: Route, options: RequestOptions = small): Promise<RouteRequest> {
    const kinds = new Set<string>();
    const path = await filledPath(route, options, kinds);
    const query = await filledQuery(route, options, kinds);
    const hasBody = route.body && route.method !== 'GET';
    const body = hasBody ? await filledFields(route, inputSchema(route.body!), options, kinds) : undefined;
    return { path, query, body, kinds };
  }

  async function tokenFor(route: Route): Promise<string | undefined> {
    if (route.auth === 'public') return undefined;
    if (route.auth === 'staff') return staff;
    return lastCalls.test(route.path) ? (await shop.shopper()).token : owner.token;
  }
  return { owner, staff, make, fill, tokenFor };
}
