import { isoInZone, type Locale, toWire } from '@tradepost/core';
import { fileUrls } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import type { Category } from './categories/category-store.ts';
import { type CardProduct, textsIn, type ViewContext } from './products/product.ts';

/** The context in which rows become answers, for one request. */
export const viewsOf =
  ({ settings, config }: Runtime) =>
  (request: Request, locale: Locale): ViewContext => {
    const zone = settings.get(timeZone);
    return {
      locale,
      iso: (at) => isoInZone(at, zone),
      fileUrl: fileUrls(request, config).absolute,
    };
  };

export function recommendedView(product: CardProduct, view: ViewContext) {
  return {
    id: product.id,
    product_id: product.id,
    category_id: product.category_id,
    ...textsIn(product, view.locale),
    cover: view.fileUrl(product.cover),
    price: toWire(product.price),
    origin_price: toWire(product.origin_price),
    stock: product.sellable,
    sales: product.sales,
    favorite_count: product.favorite_count,
  };
}

/** The fields of a category that storefront and back office show, with its base name. */
export function categoryView(category: Category, view: ViewContext) {
  const { id, parent_id, name, icon, sort, status } = category;
  return {
    ...{ id, parent_id, name, sort, status },
    icon: view.fileUrl(icon),
    created_at: view.iso(category.created_at),
    updated_at: view.iso(category.updated_at),
  };
}
