import { toMinor, toWire } from '@tradepost/core';
import {
  type OpeningPayment,
  type PayAction,
  type ProviderRecord,
  type ProviderRuntime,
  payCurrency,
  paymentErrors,
  type RecordName,
  type RedirectProvider,
  type RefundAnswer,
  type RefundRequest,
} from '@tradepost/orders';
import { z } from 'zod';
import { type AlipayApi, AlipayError, chinaTime, fromChinaTime, openAlipayApi, providerName } from './alipay-api.ts';
import { noticeResource } from './notices.ts';
import { notifyUrl, requiredSettings } from './settings.ts';
import { billRecords } from './trade-bill.ts';

const notifyPath = '/api/v1/notify/alipay';
const maxSubject = 128;

/** The methods and product codes by channel. */
const products = {
  page: ['alipay.trade.page.pay', 'FAST_INSTANT_TRADE_PAY'],
  wap: ['alipay.trade.wap.pay', 'QUICK_WAP_WAY'],
  app: ['alipay.trade.app.pay', 'QUICK_MSECURITY_PAY'],
} as const;
export const alipayChannels = Object.keys(products) as readonly (keyof typeof products)[];

/** Refusals of a refund that a repeat does not change. */
const finalRefusals = new Set([
  ...['ACQ.INVALID_PARAMETER', 'ACQ.TRADE_NOT_EXIST', 'ACQ.REFUND_AMT_NOT_EQUAL_TOTAL', 'ACQ.TRADE_HAS_FINISHED'],
  ...['ACQ.REASON_TRADE_REFUND_FEE_ERR', 'ACQ.TRADE_STATUS_ERROR', 'ACQ.DISCORDANT_REPEAT_REQUEST'],
]);

const yuan = (cents: number) => toWire(cents).toFixed(2);
const amount = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,2})?$/)
  .transform((text) => toMinor(Number(text)));

const trade = z.object({
  out_trade_no: z.string().max(64),
  trade_no: z.string().max(64).default(''),
  trade_status: z.enum(['WAIT_BUYER_PAY', 'TRADE_CLOSED', 'TRADE_SUCCESS', 'TRADE_FINISHED']),
  total_amount: amount,
  send_pay_date: z.string().optional(),
});
const refundAnswer = z.object({ trade_no: z.string().max(64), fund_change: z.enum(['Y', 'N']).default('N') });
const refundFound = z.object({
  out_trade_no: z.string().default(''),
  trade_no: z.string().default(''),
  out_request_no: z.string().optional(),
  refund_amount: amount.optional(),
  refund_status: z.string().optional(),
  gmt_refund_pay: z.string().optional(),
});

/** A payment that was refunded in full is closed too, and has a time of payment. */
function statusOf({ trade_status, send_pay_date }: z.output<typeof trade>): ProviderRecord['status'] {
  if (trade_status === 'WAIT_BUYER_PAY') return 'pending';
  return trade_status === 'TRADE_CLOSED' && !send_pay_date ? 'failed' : 'succeeded';
}

async function findPayment(
  api: AlipayApi,
  { payment_no, trade_no }: RecordName,
  signal: AbortSignal,
): Promise<ProviderRecord> {
  const content = trade_no ? { trade_no } : { out_trade_no: payment_no };
  const found = await api.call({ method: 'alipay.trade.query', content }, trade, signal);
  return {
    ...{ kind: 'payment', payment_no: found.out_trade_no, refund_no: '', trade_no: found.trade_no },
    ...{ amount: found.total_amount, currency: 'CNY', status: statusOf(found), at: fromChinaTime(found.send_pay_date) },
  };
}

async function findRefund(
  api: AlipayApi,
  { payment_no, trade_no, refund_no = '' }: RecordName,
  signal: AbortSignal,
): Promise<ProviderRecord | null> {
  const content = {
    ...(trade_no ? { trade_no } : { out_trade_no: payment_no }),
    ...{ out_request_no: refund_no, query_options: ['gmt_refund_pay'] },
  };
  const found = await api.call({ method: 'alipay.trade.fastpay.refund.query', content }, refundFound, signal);
  // An unknown refund is answered as a success without fields.
  if (found.out_request_no !== refund_no || found.refund_amount === undefined) return null;
  return {
    ...{ kind: 'refund', payment_no: found.out_trade_no, refund_no, trade_no: found.trade_no, currency: 'CNY' },
    ...{ amount: found.refund_amount, status: found.refund_status === 'REFUND_SUCCESS' ? 'succeeded' : 'pending' },
    at: fromChinaTime(found.gmt_refund_pay),
  };
}

const isUnknown = (error: unknown): boolean => error instanceof AlipayError && error.code === 'ACQ.TRADE_NOT_EXIST';

async function refund(
  api: AlipayApi,
  { refund_no, payment_no, trade_no, amount: cents, reason }: RefundRequest,
  signal: AbortSignal,
): Promise<RefundAnswer> {
  const content = {
    trade_no,
    refund_amount: yuan(cents),
    out_request_no: refund_no,
    refund_reason: reason.slice(0, 256),
  };
  try {
    const answer = await api.call({ method: 'alipay.trade.refund', content }, refundAnswer, signal);
    // Of the first call: the money moved. A repeat answers N, also when the first one is not done yet.
    if (answer.fund_change === 'Y') return { status: 'succeeded', provider_ref: answer.trade_no };
  } catch (error) {
    if (error instanceof AlipayError && finalRefusals.has(error.code))
      return { status: 'failed', reason: error.message };
    throw error;
  }
  const found = await findRefund(api, { payment_no, trade_no, refund_no, provider_ref: '' }, signal);
  if (found && found.amount !== cents)
    return { status: 'failed', reason: 'Alipay has a refund with this number and another amount' };
  return { status: found?.status === 'succeeded' ? 'succeeded' : 'pending', provider_ref: trade_no };
}

function begin(api: AlipayApi, payment: OpeningPayment, notify_url: string): PayAction {
  const [method, product_code] = products[payment.channel as keyof typeof products];
  const content = {
    ...{ out_trade_no: payment.payment_no, total_amount: yuan(payment.amount), product_code },
    ...{ subject: [...payment.title].slice(0, maxSubject).join(''), time_expire: chinaTime(payment.expires_at) },
  };
  const none = { pay_params: {}, provider_ref: '', valid_until: null };
  if (payment.channel === 'app') {
    const orderStr = api.orderString({ method, content, notify_url });
    return { ...none, pay_url: '', pay_params: { orderStr } };
  }
  return { ...none, pay_url: api.pageUrl({ method, content, notify_url, return_url: payment.return_url }) };
}

export function alipayProvider(runtime: ProviderRuntime): RedirectProvider {
  const { settings, config } = runtime;
  const api = openAlipayApi(runtime);
  const notifyAddress = (site: string) => {
    const set = settings.get(notifyUrl);
    if (set !== '') return set;
    const own = config.publicUrl ?? site;
    if (own === '') throw paymentErrors.provider_not_ready({ provider: providerName, missing: 'PUBLIC_URL' });
    return `${own.replace(/\/$/, '')}${notifyPath}`;
  };
  return {
    ready() {
      const missing = requiredSettings.find((one) => settings.get(one) === '');
      if (missing) throw paymentErrors.provider_not_ready({ provider: providerName, missing: missing.key });
      const currency = settings.get(payCurrency);
      if (currency !== 'CNY')
        throw paymentErrors.currency_unsupported({ provider: providerName, currency, setting: payCurrency.key });
    },
    begin: async (payment, site) => begin(api, payment, notifyAddress(site)),
    notices: (receivers) => [noticeResource(api, receivers, notifyPath)],
    refund: (request, signal) => refund(api, request, signal),
    async find(name, signal) {
      try {
        return await (name.refund_no === undefined ? findPayment(api, name, signal) : findRefund(api, name, signal));
      } catch (error) {
        if (isUnknown(error)) return null;
        throw error;
      }
    },
    async close({ payment_no }, signal) {
      const content = { out_trade_no: payment_no };
      // The payment exists at Alipay from the moment at which the shopper opens its page.
      await api.call({ method: 'alipay.trade.close', content }, z.unknown(), signal).catch((error: unknown) => {
        if (!isUnknown(error)) throw error;
      });
    },
    records: (period, signal) => billRecords(api, period, signal),
    stop: api.close,
  };
}
