import { toWire } from '@tradepost/core';
import { enqueueNotices, isNoticeOn, type ShopperNotice } from '@tradepost/identity';
import { selectReceiverPhones } from '@tradepost/orders';
import type { Transaction } from '@tradepost/postgres';
import type { Runtime } from '@tradepost/runtime';
import type { LockedCase } from './actions/move-cases.ts';

/** The messages to shoppers about their cases. Each is sent when an operator has switched it on. */
export const afterSaleNotices: readonly ShopperNotice[] = [
  {
    name: 'after_sale_approved',
    about: 'the merchant approved an after-sale case; the buyer may send the goods back',
    params: ['case_no', 'order_no'],
    texts: {
      en: 'Your after-sale {case_no} of order {order_no} was approved. Please send the goods back.',
      'zh-CN': '您订单 {order_no} 的售后 {case_no} 已通过审核，请寄回商品。',
    },
  },
  {
    name: 'after_sale_rejected',
    about: 'the merchant rejected an after-sale case',
    params: ['case_no', 'order_no'],
    texts: {
      en: 'Your after-sale {case_no} of order {order_no} was rejected.',
      'zh-CN': '您订单 {order_no} 的售后 {case_no} 未通过审核。',
    },
  },
  {
    name: 'after_sale_refunded',
    about: 'the refund of an after-sale case was registered',
    params: ['case_no', 'order_no', 'amount'],
    texts: {
      en: 'The refund of {amount} for order {order_no} was registered (after-sale {case_no}).',
      'zh-CN': '您订单 {order_no} 的退款 {amount} 元已登记（售后 {case_no}）。',
    },
  },
];

/** Queues a message to the buyers of these cases. `amount` is the refunded amount in minor units. Reads nothing while it is off. */
export async function notifyBuyers(
  tx: Transaction,
  runtime: Pick<Runtime, 'settings' | 'config' | 'now'>,
  notice: 'after_sale_approved' | 'after_sale_rejected' | 'after_sale_refunded',
  cases: readonly { found: LockedCase; amount?: number }[],
): Promise<void> {
  if (cases.length === 0 || !isNoticeOn(runtime, notice)) return;
  const phones = await selectReceiverPhones(
    tx,
    cases.map(({ found }) => found.order_id),
  );
  await enqueueNotices(
    tx,
    runtime,
    cases.map(({ found, amount = 0 }) => ({
      notice,
      user_id: found.user_id,
      phone: phones.get(found.order_id) ?? '',
      params: {
        case_no: found.case_no,
        order_no: found.order.order_no,
        amount: toWire(amount).toFixed(2),
      },
    })),
  );
}
