import { isPictureAddress } from '@tradepost/http';
import type { CouponIssuer } from '@tradepost/module';
import type { Transaction } from '@tradepost/postgres';
import type { z } from 'zod';
import { mallErrors } from '../errors.ts';
import { maxImageAddress, maxImages, maxProducts } from '../limits.ts';
import { limitOf, type Product, type ProductFields } from './product.ts';
import type { productBody, productChangeBody } from './product-schemas.ts';
import { countOpenExchanges, deleteProducts, insertProducts, lockProducts, updateProducts } from './product-store.ts';

/** `relative` makes the URL of an uploaded file a path. `coupons` is undefined when no package with coupons runs. */
export type SaveContext = {
  readonly relative: (url: string) => string;
  readonly coupons: CouponIssuer | undefined;
  readonly now: Date;
};
type Change = z.output<typeof productChangeBody>;

const blank: Omit<ProductFields, 'title' | 'type' | 'points_price'> = {
  ...{ stock_limit: null, cover: '', images: [], description: '', status: 1, sort: 0 },
  ...{ limit_per_user: 0, limit_per_day: 0, coupon_id: 0, need_address: false, virtual_content: '' },
};

function pictureOf(field: string, sent: string, relative: SaveContext['relative']): string {
  const address = relative(sent.trim());
  if (!isPictureAddress(address)) throw mallErrors.image_address({ field });
  return address;
}

/** The pictures of a form: a list, or its JSON text as clients read it. */
function picturesOf(sent: string | readonly string[], relative: SaveContext['relative']): string[] {
  let given: unknown = sent;
  if (typeof sent === 'string')
    try {
      given = sent.trim() === '' ? [] : JSON.parse(sent);
    } catch {
      throw mallErrors.images_text({ max: maxImages });
    }
  // null is how a client without pictures writes an empty list.
  const addresses = given ?? [];
  const isList = Array.isArray(addresses) && addresses.length <= maxImages;
  if (!isList || !addresses.every((each) => typeof each === 'string' && each.length <= maxImageAddress))
    throw mallErrors.images_text({ max: maxImages });
  return [...new Set(addresses.map((each: string) => pictureOf('images', each, relative)))].filter(
    (each) => each !== '',
  );
}

/** The fields of a product after a form. */
function changed(before: ProductFields & { sold_count: number }, change: Change, relative: SaveContext['relative']) {
  const { stock, sold_count: seen, cover, images, need_address, ...plain } = change;
  const { sold_count, ...fields } = before;
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
  return {
    ...fields,
    ...(given as Partial<ProductFields>),
    ...(stock === undefined ? {} : { stock_limit: limitOf(stock, seen, sold_count) }),
    ...(cover === undefined ? {} : { cover: pictureOf('cover', cover, relative) }),
    ...(images === undefined ? {} : { images: picturesOf(images, relative) }),
    ...(need_address === undefined ? {} : { need_address: Boolean(need_address) }),
  } satisfies ProductFields;
}

/** Refuses a coupon that does not exist. A coupon that was stored before is not asked for again: its package may be off. */
async function refuseUnknownCoupon(
  tx: Transaction,
  { coupons }: SaveContext,
  after: ProductFields,
  before?: ProductFields,
): Promise<void> {
  const { type, coupon_id } = after;
  if (type !== 'coupon' || coupon_id === 0 || (before?.type === type && before.coupon_id === coupon_id)) return;
  const known = await coupons?.named(tx, [coupon_id]);
  if (!known?.has(coupon_id)) throw mallErrors.coupon_not_found();
}

export async function createProduct(
  tx: Transaction,
  context: SaveContext,
  form: z.output<typeof productBody>,
): Promise<Product> {
  const { title, type, points_price, ...rest } = form;
  const fields = changed(
    { ...blank, title, type, points_price, sold_count: 0 },
    { ...rest, sold_count: 0 },
    context.relative,
  );
  await refuseUnknownCoupon(tx, context, fields);
  const [product] = (await insertProducts(tx, [fields], context.now)) ?? [];
  if (!product) throw mallErrors.too_many_products({ max: maxProducts });
  return product;
}

/** Changes the fields of the form; absent ones stay. */
export async function editProduct(tx: Transaction, context: SaveContext, id: number, form: Change): Promise<void> {
  const [before] = await lockProducts(tx, [id]);
  if (!before) throw mallErrors.product_not_found();
  const after = changed(before, form, context.relative);
  await refuseUnknownCoupon(tx, context, after, before);
  await updateProducts(tx, [{ ...after, id }], context.now);
}

/** Deletes a product that has no open exchange. Its completed and cancelled exchanges stay. */
export async function removeProduct(tx: Transaction, id: number): Promise<void> {
  const [product] = await lockProducts(tx, [id]);
  if (!product) throw mallErrors.product_not_found();
  const count = await countOpenExchanges(tx, [id]);
  if (count > 0) throw mallErrors.open_exchanges({ count });
  await deleteProducts(tx, [id]);
}
