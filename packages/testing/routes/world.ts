import type { Route } from '@tradepost/http';
import { createShopper, createStaff } from '@tradepost/identity';
import { insertProduct, type Shop } from '../shop.ts';
import { fieldsOf, inputSchema, type Json, label, valid, withAt } from './inputs.ts';

/**
 * Requests that mean something, for any route of the table: its examples, with every id in them replaced by that of a row
 * made for the call. What a path parameter is an id of follows from the path before it, a field's from its name.
 */
type Id = number | string;
export type Person = { id: number; token: string; address_id: number; username: string };
/** `order`: what became of the orders that are made; `large`: many lines, many ids in a list, many rows on a page. */
export type Wish = { order: 'unpaid' | 'paid' | 'shipped'; large: boolean; missing?: boolean; query?: string };
type Filled = { path: string; query: string; body: unknown; kinds: Set<string> };
export type World = {
  owner: Person;
  staff: string;
  /** New rows of a kind; the owner's where they belong to somebody. */
  make(kind: string, count: number, wish?: Wish): Promise<Id[]>;
  fill(route: Route, wish?: Wish): Promise<Filled>;
  /** The owner's, the administrator's, or that of somebody new where the call ends the account or the token. */
  tokenFor(route: Route): Promise<string | undefined>;
};

const small: Wish = { order: 'unpaid', large: false };
const many = 50;
export const idName = /^(id|ids|\w+_ids?|payment_no)$/;
/** Named like ids of rows that can be made, and are not: the example is better. */
const noIds = new Set(['parent_id', 'open_id', 'transaction_id', 'merchant_id', 'activity_product_id']);
const plurals: Readonly<Record<string, string>> = { category: 'categories', address: 'addresses', role: 'roles' };
/** What has to be unlike its neighbours. */
const unique = /^(name|username|title|code|key)$/;
/** These end what they are sent with. */
const lastCalls = /\/(logout|user\/delete)$/;
/** What no shop makes over its API. */
const collections: Readonly<Record<string, string>> = { payments: '/api/pay' };

/** The path of the collection that an id is of: `/admin/api/orders` for `/admin/api/orders/:id/notes` and for `order_id`. */
function collectionOf(route: Route, name: string, where: 'path' | 'fields'): string {
  if (name === 'payment_no') return collections.payments!;
  const [, area, version] = route.path.split('/');
  const of = /^(\w+)_ids?$/.exec(name)?.[1];
  if (of) return `/${area}/${version}/${plurals[of] ?? `${of}s`}`;
  if (where === 'path') return route.path.slice(0, route.path.indexOf(`/:${name}`));
  return route.path.split('/').slice(0, 4).join('/');
}
const nobodys = (id: Id): Id => (typeof id === 'number' ? 2 ** 40 : `${id.slice(0, -2)}zz`);
const kindOf = (collection: string) => collection.split('/').pop()!;

export async function openWorld(shop: Shop, person?: Person): Promise<World> {
  const { sql } = shop.database;
  await shop.server.runtime.settings.set('pay.sandbox.secret', 'of the harness '.repeat(3));
  const owner = person ?? (await shop.shopper());
  const [first] = await sql<{ id: number }[]>`select min(id) as id from identity.staff`;
  // Those that the examples of the logins speak of.
  const staffId = first?.id ?? (await createStaff(sql, { username: 'admin', password: 'admin123' }));
  if (!first?.id) await createShopper(sql, { username: 'demo', password: 'demo123456', nickname: 'Demo' });
  const staff = await shop.server.tokens.issue({ role: 'admin', id: staffId, perms: ['*'] });
  let counter = 0;
  const next = () => {
    counter += 1;
    return counter;
  };
  const sent = async (method: string, path: string, token: string | undefined, body?: unknown) => {
    const answer = await shop.call(method, path, { token, body });
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.message}`);
    return answer.data;
  };
  const times = <T>(count: number, make: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => make(index)));
  let shelf: number[] = [];
  let lastOrder = 0;

  async function orders(count: number, { order, large }: Wish): Promise<Id[]> {
    if (shelf.length === 0)
      shelf = (await insertProduct(shop.database, { stocks: Array(many).fill(1_000_000) })).sku_ids;
    const items = shelf.slice(0, large ? 20 : 1).map((sku_id) => ({ sku_id, qty: 1 }));
    return times(count, async () => {
      const body = { address_id: owner.address_id, items };
      const { id } = await sent('POST', '/api/v1/orders', owner.token, body);
      if (order !== 'unpaid') await sent('POST', `/api/v1/orders/${id}/pay`, owner.token);
      if (order === 'shipped')
        await sent('PUT', `/admin/api/orders/${id}/ship`, staff, { company: 'SF', tracking_no: `SF${id}` });
      lastOrder = id;
      return id;
    });
  }

  /** Kinds that need more than one POST to their collection. */
  const makers: Record<string, (count: number, wish: Wish) => Promise<Id[]>> = {
    orders,
    products: (count, { large }) =>
      times(count, async () => (await insertProduct(shop.database, { stocks: Array(large ? 20 : 1).fill(100) })).id),
    skus: async (count) => (await insertProduct(shop.database, { stocks: Array(count).fill(1_000) })).sku_ids,
    // An existing line of the cart.
    cart: async (count) => {
      const ids = (await insertProduct(shop.database, { stocks: Array(count).fill(1_000) })).sku_ids;
      for (const sku_id of ids) await sent('POST', '/api/v1/cart/add', owner.token, { sku_id, qty: 1 });
      return ids;
    },
    pay: (count, { large }) =>
      times(count, async () => {
        const [order_id] = await orders(1, { order: 'unpaid', large });
        return (await sent('POST', '/api/pay/create', owner.token, { order_id, provider: 'sandbox' })).payment_no;
      }),
    users: async () => [owner.id],
    // All settings of the rate limiter: what a body of several changes.
    settings: async () => ['ratelimit.*'],
    warehouses: (count) =>
      times(count, async () => {
        const body = { code: `W${next()}`, name: 'Warehouse' };
        return (await sent('POST', '/admin/api/wms/warehouses', staff, body)).id;
      }),
    // Drafts that can be completed.
    docs: (count, { large }) =>
      times(count, async () => {
        const [warehouse_id] = await make('warehouses', 1);
        const skuIds = (await make('skus', large ? many : 1)) as number[];
        const items = skuIds.map((sku_id) => ({ sku_id, qty: 1 }));
        const body = { warehouse_id, doc_type: 'inbound', items };
        return (await sent('POST', '/admin/api/wms/docs', staff, body)).id;
      }),
    stocks: async (count) => {
      const [doc] = await make('docs', 1, { ...small, large: count > 1 });
      await sent('POST', `/admin/api/wms/docs/${doc}/complete`, staff);
      const rows = await sql<
        { id: number }[]
      >`select id from inventory.inventory_stock order by id desc limit ${count}`;
      return rows.map((row) => row.id);
    },
    // Failed ones, that can be tried again: of an order, with what hangs on it.
    tasks: (count, { large }) =>
      times(count, async () => {
        const [order_id] = await orders(1, { order: 'unpaid', large });
        const [row] = await sql<{ id: number }[]>`
          with state as (
            update inventory.order_inventory_state s set provider = 'external_wms', status = 'failed'
            from orders.orders o where o.id = ${Number(order_id)} and o.order_no = s.order_no returning s.order_no
          ), reserved as (
            update inventory.inventory_reservation r set status = 'released' from state where r.biz_no = state.order_no
          )
          insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key,
            payload, status, attempt_count, max_attempts, backoff_seconds, completed_at)
          select 'external_wms', 'order', order_no, 'reserve', 'order:' || order_no || ':reserve', 'order:' || order_no, '{}',
            'failed', 1, 1, 0, now()
          from state returning id`;
        return row!.id;
      }),
    // Of the order that the request is about.
    items: async (count) => {
      const rows = await sql<{ id: number }[]>`
        select id from orders.order_items where order_id = ${lastOrder} order by id limit ${count}`;
      return rows.map((row) => row.id);
    },
  };

  const make: World['make'] = async (collection, count, wish = small) => {
    const maker = makers[kindOf(collection)];
    if (maker) return maker(count, wish);
    const routeOf = (method: string, path: string) =>
      shop.server.routes.find((route) => route.method === method && route.path === path);
    const list = routeOf('GET', collection);
    // What shoppers only look at is made by the back office.
    const post = routeOf('POST', collection) ?? routeOf('POST', `/admin/api/${kindOf(collection)}`);
    if (post)
      return times(count, async () => {
        const { path, body } = await fill(post);
        return (await sent('POST', path, await tokenFor(post), body)).id;
      });
    if (list) {
      const data = await sent('GET', `${collection}?size=100`, await tokenFor(list));
      const rows = (Array.isArray(data) ? data : (data.list ?? [])) as { id?: Id }[];
      const ids = rows.flatMap((row) => (row.id === undefined ? [] : [row.id])).slice(0, count);
      if (ids.length > 0) return ids;
    }
    throw new Error(`no way to make ${collection}: add a maker to packages/testing/routes/world.ts`);
  };

  /** For a field; null, which leaves its example, where an administrator's route names what nobody can make yet. */
  const made = (route: Route, name: string, count: number, wish: Wish): Promise<Id[] | null> =>
    make(collectionOf(route, name, 'fields'), count, wish).catch((error: Error) => {
      if (route.auth === 'staff') return null;
      throw new Error(`${label(route)}: what is ${name} an id of? ${error.message}`);
    });

  /** Ids of the fields put in; lists are as long as they may be, up to `many`. */
  async function filledFields(route: Route, schema: Json, wish: Wish, kinds: Set<string>): Promise<unknown> {
    // A bare list is filled as the list of an object.
    if (schema.items?.properties) {
      const inside = await filledFields(route, { type: 'object', properties: { list: schema } }, wish, kinds);
      return (inside as { list: unknown }).list;
    }
    let value = valid(schema);
    for (const field of fieldsOf(schema)) {
      const { path, name, schema: of } = field;
      if (unique.test(name) && of.type === 'string' && !of.enum && path.length === 1 && !/login|GET/.test(label(route)))
        value = withAt(value, path, `${name}${next()}`.slice(0, (of.maxLength as number) ?? 50));
      if (!idName.test(name) || noIds.has(name) || path.includes(0)) continue;
      const collection = collectionOf(route, name, 'fields');
      kinds.add(kindOf(collection));
      const length = of.type === 'array' ? (wish.large ? Math.min(many, (of.maxItems as number) ?? many) : 1) : 0;
      const ids = await made(route, name, length || 1, wish);
      if (ids && wish.missing) ids[0] = nobodys(ids[0]!);
      if (ids) value = withAt(value, path, length > 0 ? ids : ids[0]);
    }
    // Lists of objects: one for each id of its own.
    for (const [name, part] of Object.entries(schema.properties ?? {})) {
      const ids = Object.keys(part.items?.properties ?? {}).filter((inner) => idName.test(inner) && !noIds.has(inner));
      if (ids.length !== 1) continue;
      const collection = collectionOf(route, ids[0]!, 'fields');
      kinds.add(kindOf(collection));
      const count = wish.large ? Math.min(many, (part.maxItems as number) ?? many) : 1;
      const each = await made(route, ids[0]!, count, wish);
      if (!each) continue;
      if (wish.missing) each[0] = nobodys(each[0]!);
      const one = ((value as Record<string, unknown[]>)[name] ?? [])[0] as object;
      value = withAt(
        value,
        [name],
        each.map((id) => ({ ...one, [ids[0]!]: id })),
      );
    }
    if (Object.hasOwn(schema.properties ?? {}, 'address_id')) value = withAt(value, ['address_id'], owner.address_id);
    return value;
  }

  async function fill(route: Route, wish: Wish = small): Promise<Filled> {
    const kinds = new Set<string>();
    let path = route.path;
    for (const [, name] of route.path.matchAll(/:(\w+)/g)) {
      const collection = collectionOf(route, name!, 'path');
      kinds.add(kindOf(collection));
      const [one] = await make(collection, 1, wish).catch((error: Error) => {
        throw new Error(`${label(route)}: what is :${name} an id of? ${error.message}`);
      });
      const id = wish.missing && !route.body ? nobodys(one!) : one;
      path = path.replace(`:${name}`, encodeURIComponent(String(id)));
    }
    const query = new URLSearchParams();
    if (route.query) {
      const schema = inputSchema(route.query);
      const fields = (await filledFields(route, schema, wish, kinds)) as Record<string, unknown>;
      // Of filters only what the route needs: an example of each at once finds nothing.
      for (const name of Object.keys(schema.properties ?? {}))
        if (schema.required?.includes(name) || name === (wish.query ?? 'payment_no') || name === 'sku_ids')
          query.set(name, String(fields[name]));
      if ('size' in (schema.properties ?? {})) query.set('size', wish.large ? '100' : '1');
      if ('page_size' in (schema.properties ?? {})) query.set('page_size', wish.large ? '100' : '1');
    }
    const body =
      route.body && route.method !== 'GET'
        ? await filledFields(route, inputSchema(route.body), wish, kinds)
        : undefined;
    return { path, query: query.size > 0 ? `?${query}` : '', body, kinds };
  }

  const tokenFor: World['tokenFor'] = async (route) => {
    if (route.auth === 'public') return undefined;
    if (route.auth === 'staff') return staff;
    return lastCalls.test(route.path) ? (await shop.shopper()).token : owner.token;
  };
  return { owner, staff, make, fill, tokenFor };
}
