import type { Labels } from '@tradepost/core';

export const productTypes = ['coupon', 'physical', 'virtual'] as const;
export type ProductType = (typeof productTypes)[number];

export const productTypeLabels: Labels = {
  coupon: { en: 'Coupon', 'zh-CN': '优惠券' },
  physical: { en: 'Physical Goods', 'zh-CN': '实物' },
  virtual: { en: 'Virtual Goods', 'zh-CN': '虚拟商品' },
};

export const productStatusLabels: Labels = {
  0: { en: 'Off Shelf', 'zh-CN': '已下架' },
  1: { en: 'On Shelf', 'zh-CN': '上架' },
};

/** What staff write. */
export type ProductFields = {
  title: string;
  type: ProductType;
  /** Points for one piece. */
  points_price: number;
  /** The largest `sold_count` that staff allow. Null: no limit. */
  stock_limit: number | null;
  cover: string;
  images: string[];
  description: string;
  /** 1: on the shelf. */
  status: 0 | 1;
  sort: number;
  /** Pieces of one shopper in all and on a day of the shop. 0: no limit. */
  limit_per_user: number;
  limit_per_day: number;
  /** The coupon of a product of type coupon. 0: none. */
  coupon_id: number;
  need_address: boolean;
  /** What the shopper of a virtual product gets. */
  virtual_content: string;
};

export type Product = ProductFields & { id: number; sold_count: number; created_at: Date; updated_at: Date };

/** The pieces that are left. Null: no limit. */
export const leftOf = ({ stock_limit, sold_count }: Pick<Product, 'stock_limit' | 'sold_count'>): number | null =>
  stock_limit === null ? null : Math.max(0, stock_limit - sold_count);

/** `stock` on the wire of a product that is sold out. There 0 means no limit. */
export const soldOut = -1;

/** `stock` on the wire: 0 without a limit, -1 when sold out, else what is left. */
export function stockOf(product: Pick<Product, 'stock_limit' | 'sold_count'>): number {
  const left = leftOf(product);
  return left === null ? 0 : left === 0 ? soldOut : left;
}

/**
 * The limit that staff mean with `stock`. `seen` is the `sold_count` of the form: what was exchanged since the form was read
 * still counts. Without it, `stock` is what is left now.
 */
export function limitOf(stock: number, seen: number | undefined, sold: number): number | null {
  if (stock === 0) return null;
  return Math.max(sold, (seen ?? sold) + Math.max(0, stock));
}
