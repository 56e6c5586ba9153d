import { isoInZone, type Locale, labelOf } from '@tradepost/core';
import { fileUrls } from '@tradepost/http';
import { type Runtime, timeZone } from '@tradepost/runtime';
import { leftOf, type Product, productStatusLabels, productTypeLabels, stockOf } from './product.ts';

export type MallView = { readonly zone: string; readonly locale: Locale; readonly fileUrl: (path: string) => string };

export const mallView = (
  { config, settings }: Pick<Runtime, 'config' | 'settings'>,
  { request, locale }: { request: Request; locale: Locale },
): MallView => ({ zone: settings.get(timeZone), locale, fileUrl: fileUrls(request, config).absolute });

/** A product as staff see it. */
export function productView(product: Product, { zone, locale, fileUrl }: MallView) {
  const { stock_limit, images, cover, created_at, updated_at, ...rest } = product;
  return {
    ...rest,
    type_label: labelOf(productTypeLabels, product.type, locale),
    status_label: labelOf(productStatusLabels, product.status, locale),
    stock: stockOf(product),
    sold_out: leftOf(product) === 0,
    cover: fileUrl(cover),
    images: JSON.stringify(images.map(fileUrl)),
    created_at: isoInZone(created_at, zone),
    updated_at: isoInZone(updated_at, zone),
  };
}

/** A product as shoppers see it: the content of a virtual product is what they pay for. */
export const shelfView = (product: Product, view: MallView) => ({ ...productView(product, view), virtual_content: '' });
