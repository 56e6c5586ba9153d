import { z } from 'zod';
import type { Ledger, Refund, Trade } from '../ledger.ts';
import { account } from './signing.ts';

export const opening = z.object({
  appid: z.literal(account.appId),
  mchid: z.literal(account.mchId),
  description: z.string().min(1).max(127),
  out_trade_no: z.string().regex(/^[0-9a-zA-Z_*|-]{6,32}$/),
  notify_url: z.url().max(255),
  time_expire: z.iso.datetime({ offset: true }).optional(),
  amount: z.object({ total: z.int().min(1), currency: z.literal('CNY').default('CNY') }),
  payer: z.object({ openid: z.string().min(1).max(128) }).optional(),
  scene_info: z
    .object({ payer_client_ip: z.string().min(1).max(45), h5_info: z.object({ type: z.string() }).optional() })
    .optional(),
});
export const refunding = z.object({
  transaction_id: z.string().min(1),
  out_refund_no: z.string().regex(/^[0-9a-zA-Z_*|@-]{1,64}$/),
  reason: z.string().max(80).optional(),
  notify_url: z.url().max(256).optional(),
  amount: z.object({ refund: z.int().min(1), total: z.int().min(1), currency: z.literal('CNY') }),
});

const states = { open: 'NOTPAY', paid: 'SUCCESS', closed: 'CLOSED' } as const;
const refundStates = { processing: 'PROCESSING', succeeded: 'SUCCESS', failed: 'ABNORMAL' } as const;
export const china = (at: Date) => `${new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`;

export const transaction = (of: Trade) => ({
  ...{ appid: account.appId, mchid: account.mchId, out_trade_no: of.payment_no, trade_state: states[of.status] },
  ...{ trade_state_desc: of.status, trade_type: of.channel.toUpperCase() },
  ...(of.paid_at ? { transaction_id: of.trade_no, success_time: china(of.paid_at) } : {}),
  amount: { total: of.amount, payer_total: of.amount, currency: of.currency, payer_currency: of.currency },
});
export const refundView = (ledger: Ledger, of: Refund) => {
  const { trade_no, amount } = ledger.trade(of.payment_no);
  return {
    ...{
      refund_id: of.refund_id,
      out_refund_no: of.refund_no,
      transaction_id: trade_no,
      out_trade_no: of.payment_no,
    },
    ...{
      channel: 'ORIGINAL',
      user_received_account: '零钱',
      status: refundStates[of.status],
      create_time: china(of.at),
    },
    ...(of.status === 'succeeded' ? { success_time: china(of.at) } : {}),
    amount: { total: amount, refund: of.amount, payer_total: amount, payer_refund: of.amount, currency: of.currency },
  };
};
