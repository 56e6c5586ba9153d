import type { Route } from '@tradepost/http';
import type { Id } from './makers.ts';

/** Names of parameters and fields that are ids of objects. */
export const idName = /^(id|ids|\w+_ids?|payment_no)$/;

/** Fields that are named like ids but have no object that tests can make. The examples of these fields are sent. */
export const notIds = new Set(['parent_id', 'open_id', 'transaction_id', 'merchant_id', 'activity_product_id']);

const plurals: Readonly<Record<string, string>> = {
  category: 'categories',
  address: 'addresses',
  role: 'roles',
  activity: 'activities',
};
const paymentCollection = '/api/pay';
const userCouponCollection = '/api/v1/user/coupons';

/** The path of the collection of an id: `/admin/api/orders` for `/admin/api/orders/:id/notes` and for `order_id`. */
export function collectionOf(route: Route, name: string, where: 'path' | 'fields'): string {
  if (name === 'payment_no') return paymentCollection;
  // Orders name the coupons of the shopper, and not those of the shop.
  if (name === 'coupon_ids') return userCouponCollection;
  const [, area, version] = route.path.split('/');
  const singular = /^(\w+)_ids?$/.exec(name)?.[1];
  if (singular) return `/${area}/${version}/${plurals[singular] ?? `${singular}s`}`;
  if (where === 'path') return route.path.slice(0, route.path.indexOf(`/:${name}`));
  return route.path.split('/').slice(0, 4).join('/');
}

/** The last segment of the path of a collection: `orders`. */
export const kindOf = (collection: string): string => collection.split('/').pop()!;

/** An id of the same form that no object has. */
export const missingId = (id: Id): Id => (typeof id === 'number' ? 2 ** 40 : `${id.slice(0, -2)}zz`);
