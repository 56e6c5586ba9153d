import { type Attempt, type AttemptReader, attemptProgress } from '@tradepost/activities';
import { isoInZone, type Labels, type Minor, toWire } from '@tradepost/core';

const bargainStatusLabels: Labels = {
  pending: { en: 'Pending', 'zh-CN': '砍价中' },
  success: { en: 'Success', 'zh-CN': '砍价成功' },
  failed: { en: 'Failed', 'zh-CN': '砍价失败' },
};

/** A bargain. `sku_id` 0 is any SKU of the product. Amounts are in minor units. `order_id` is the order that bought it. */
export type Bargain = Attempt & {
  owner_id: number;
  start_price: Minor;
  floor_price: Minor;
  current_price: Minor;
  min_cut: Minor;
  max_cut: Minor;
  max_helpers: number;
  help_count: number;
  order_id: number | null;
};

/** A help of another shopper. `cut_amount` is in minor units. */
export type Help = {
  id: number;
  bargain_id: number;
  user_id: number;
  cut_amount: Minor;
  user_nickname: string;
  created_at: Date;
};

export function bargainView(bargain: Bargain, reader: AttemptReader) {
  const { owner_id, min_cut, max_cut, order_id, ...row } = bargain;
  return {
    ...row,
    user_id: owner_id,
    start_price: toWire(row.start_price),
    floor_price: toWire(row.floor_price),
    current_price: toWire(row.current_price),
    min_cut_amount: toWire(min_cut),
    max_cut_amount: toWire(max_cut),
    ...attemptProgress(row, bargainStatusLabels, reader),
    order_id: order_id ?? 0,
  };
}

export const helpView = ({ bargain_id, cut_amount, ...help }: Help, { zone }: AttemptReader) => ({
  ...help,
  bargain_order_id: bargain_id,
  cut_amount: toWire(cut_amount),
  created_at: isoInZone(help.created_at, zone),
});
