import type { Route } from '@tradepost/http';
import type { Id } from './makers.ts';

/** Names of parameters and fields that are ids of objects. */
export const idName = /^(id|ids|\w+_ids?|payment_no)$/;

/** Named like ids of objects that tests can make, but are not: the examples of these fields are sent. */
export const notIds = new Set(['parent_id', 'open_id', 'transaction_id', 'merchant_id', 'activity_product_id']);

const plurals: Readonly<Record<string, string>> = { category: 'categories', address: 'addresses', role: 'roles' };
const paymentCollection = '/api/pay';

/** The path of the collection that an id is of: `/admin/api/orders` for `/admin/api/orders/:id/notes` and for `order_id`. */
export function collectionOf(route: Route, name: string, where: 'path' | 'fields'): string {
  if (name === 'payment_no') return paymentCollection;
  const [, area, version] = route.path.split('/');
  const of = /^(\w+)_ids?$/.exec(name)?.[1];
  if (of) return `/${area}/${version}/${plurals[of] ?? `${of}s`}`;
  if (where === 'path') return route.path.slice(0, route.path.indexOf(`/:${name}`));
  return route.path.split('/').slice(0, 4).join('/');
}

/** The last part of a collection's path: `orders`. */
export const kindOf = (collection: string): string => collection.split('/').pop()!;

/** An id like the given one of which there is no object. */
export const missingId = (id: Id): Id => (typeof id === 'number' ? 2 ** 40 : `${id.slice(0, -2)}zz`);
