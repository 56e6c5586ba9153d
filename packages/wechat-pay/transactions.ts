import type { ProviderRecord } from '@tradepost/orders';
import { z } from 'zod';

const time = z.iso.datetime({ offset: true }).max(40);

/** A payment as WeChat Pay answers it and reports it in notices. `amount` is missing while nothing is paid. */
export const transaction = z.object({
  appid: z.string().optional(),
  mchid: z.string(),
  out_trade_no: z.string().max(64),
  transaction_id: z.string().max(64).default(''),
  trade_state: z.enum(['SUCCESS', 'REFUND', 'NOTPAY', 'CLOSED', 'REVOKED', 'USERPAYING', 'PAYERROR', 'ACCEPT']),
  success_time: time.optional(),
  amount: z.object({ total: z.int().min(0), currency: z.string().max(8).default('CNY') }).optional(),
});
export type Transaction = z.output<typeof transaction>;

const refundAmount = z.object({ refund: z.int().min(0), currency: z.string().max(8).default('CNY') });
const refundStates = ['SUCCESS', 'CLOSED', 'PROCESSING', 'ABNORMAL'] as const;

export const refundAnswer = z.object({
  refund_id: z.string().max(64),
  out_refund_no: z.string().max(64),
  transaction_id: z.string().max(64),
  out_trade_no: z.string().max(64),
  status: z.enum(refundStates),
  success_time: time.optional(),
  create_time: time.optional(),
  amount: refundAmount,
});

/** The decrypted notice of a refund. Its amount has no currency: WeChat Pay refunds in CNY. */
export const refundNotice = z.object({
  mchid: z.string(),
  refund_id: z.string().max(64),
  out_refund_no: z.string().max(64),
  refund_status: z.enum(refundStates),
  amount: refundAmount,
});

/** A payment that has received money keeps this state when it is refunded. */
const paidStates = new Set<Transaction['trade_state']>(['SUCCESS', 'REFUND']);
export const isPaid = ({ trade_state }: Transaction): boolean => paidStates.has(trade_state);

const openStates = new Set<Transaction['trade_state']>(['NOTPAY', 'USERPAYING', 'ACCEPT']);

export const paymentRecord = (of: Transaction): ProviderRecord => ({
  kind: 'payment',
  ...{ payment_no: of.out_trade_no, refund_no: '', trade_no: of.transaction_id },
  ...{ amount: of.amount?.total ?? 0, currency: of.amount?.currency ?? 'CNY' },
  status: isPaid(of) ? 'succeeded' : openStates.has(of.trade_state) ? 'pending' : 'failed',
  at: new Date(of.success_time ?? 0),
});

export const refundStatus = (status: (typeof refundStates)[number]): ProviderRecord['status'] =>
  status === 'SUCCESS' ? 'succeeded' : status === 'PROCESSING' ? 'pending' : 'failed';

export const refundRecord = (of: z.output<typeof refundAnswer>): ProviderRecord => ({
  kind: 'refund',
  ...{ payment_no: of.out_trade_no, refund_no: of.out_refund_no, trade_no: of.transaction_id },
  ...{ amount: of.amount.refund, currency: of.amount.currency, status: refundStatus(of.status) },
  at: new Date(of.success_time ?? of.create_time ?? 0),
});
