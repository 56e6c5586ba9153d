import type { Labels } from '@tradepost/core';
import type { ProductType } from '../products/product.ts';
import type { AddressSnapshot } from './address-snapshot.ts';

export const exchangeStatuses = ['pending_ship', 'shipped', 'completed', 'canceled'] as const;
export type ExchangeStatus = (typeof exchangeStatuses)[number];

export const exchangeStatusLabels: Labels = {
  pending_ship: { en: 'Pending Shipment', 'zh-CN': '待发货' },
  shipped: { en: 'Shipped', 'zh-CN': '已发货' },
  completed: { en: 'Completed', 'zh-CN': '已完成' },
  canceled: { en: 'Canceled', 'zh-CN': '已取消' },
};

/** The first status of an exchange: what needs no shipment is completed at once. */
export const firstStatus = {
  physical: 'pending_ship',
  coupon: 'completed',
  virtual: 'completed',
} as const satisfies Record<ProductType, ExchangeStatus>;

/** The transitions of an exchange. Each is an update guarded by `from`. `at` is the column with its time. */
export const exchangeMoves = {
  ship: { from: ['pending_ship'], to: 'shipped', at: 'shipped_at' },
  complete: { from: ['pending_ship', 'shipped'], to: 'completed', at: 'completed_at' },
  cancel: { from: ['pending_ship', 'shipped'], to: 'canceled', at: 'canceled_at' },
} as const satisfies Record<
  string,
  { from: readonly ExchangeStatus[]; to: ExchangeStatus; at: 'shipped_at' | 'completed_at' | 'canceled_at' }
>;
export type ExchangeMove = keyof typeof exchangeMoves;

export type Exchange = {
  id: number;
  exchange_no: string;
  user_id: number;
  product_id: number;
  /** The product as it was at the exchange. */
  product_title: string;
  product_type: ProductType;
  product_cover: string;
  qty: number;
  /** Points of the whole exchange. */
  points_cost: number;
  status: ExchangeStatus;
  address_snapshot: AddressSnapshot | null;
  tracking_no: string;
  /** The coupons of the shopper that the exchange issued. */
  coupon_user_ids: number[];
  virtual_content: string;
  /** Why it was cancelled. */
  remark: string;
  created_at: Date;
  shipped_at: Date | null;
  completed_at: Date | null;
  canceled_at: Date | null;
};

const asDate = (at: Date | null) => at && new Date(at);

/** Restores an exchange from JSON. */
export const reviveExchange = (stored: Exchange): Exchange => ({
  ...stored,
  created_at: new Date(stored.created_at),
  shipped_at: asDate(stored.shipped_at),
  completed_at: asDate(stored.completed_at),
  canceled_at: asDate(stored.canceled_at),
});
