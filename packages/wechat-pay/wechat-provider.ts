import { randomBytes } from 'node:crypto';
import {
  type OpeningPayment,
  type PayAction,
  type ProviderRuntime,
  payCurrency,
  paymentErrors,
  type RecordName,
  type RedirectProvider,
  type RefundAnswer,
  type RefundRequest,
} from '@tradepost/orders';
import { z } from 'zod';
import { noticeResource } from './notices.ts';
import { appId, mchId, notifyUrl, requiredSettings } from './settings.ts';
import { billRecords } from './trade-bill.ts';
import { paymentRecord, refundAnswer, refundRecord, transaction } from './transactions.ts';
import { openWechatApi, providerName, signed, type WechatApi, WechatError } from './wechat-api.ts';

const notifyPath = '/api/v1/notify/wechat';
export const wechatChannels = ['native', 'h5', 'jsapi'] as const;
const maxDescription = 127;
/** What a payment is opened with is valid for two hours. */
const validMs = 2 * 60 * 60_000;
/** The shortest time that WeChat Pay accepts. */
const minExpiryMs = 61_000;

/** Refusals of a refund that a repeat does not change. */
const finalRefusals = new Set([
  ...['PARAM_ERROR', 'INVALID_REQUEST', 'USER_ACCOUNT_ABNORMAL', 'RESOURCE_NOT_EXISTS', 'ORDER_NOT_EXIST'],
]);
const isUnknown = (error: unknown): boolean => error instanceof WechatError && error.status === 404;

function notifyAddress({ settings, config }: ProviderRuntime, site: string | undefined = config.publicUrl): string {
  const set = settings.get(notifyUrl);
  return set !== '' || !site ? set : `${site.replace(/\/$/, '')}${notifyPath}`;
}

const answers = {
  native: z.object({ code_url: z.string().max(500) }),
  h5: z.object({ h5_url: z.url().max(500) }),
  jsapi: z.object({ prepay_id: z.string().max(200) }),
};

/** Opens a payment in one of the channels. */
function openBegin(api: WechatApi, runtime: ProviderRuntime) {
  const { settings, now } = runtime;
  return async (payment: OpeningPayment, site: string, signal: AbortSignal): Promise<PayAction> => {
    const notify_url = notifyAddress(runtime, site);
    if (notify_url === '') throw paymentErrors.provider_not_ready({ provider: providerName, missing: 'PUBLIC_URL' });
    const expires = new Date(Math.max(payment.expires_at.getTime(), now().getTime() + minExpiryMs));
    const shared = {
      ...{ appid: settings.get(appId), mchid: settings.get(mchId), out_trade_no: payment.payment_no, notify_url },
      description: [...payment.title].slice(0, maxDescription).join(''),
      time_expire: `${expires.toISOString().slice(0, 19)}+00:00`,
      amount: { total: payment.amount, currency: payment.currency },
    };
    const open = <T extends z.ZodType>(channel: string, more: object, schema: T) =>
      api.call(
        { method: 'POST', path: `/v3/pay/transactions/${channel}`, body: { ...shared, ...more }, signal },
        schema,
      );
    const valid_until = new Date(now().getTime() + validMs);
    const payer_client_ip = payment.client_address;

    if (payment.channel === 'h5') {
      const scene_info = { payer_client_ip, h5_info: { type: 'Wap' } };
      const { h5_url } = await open('h5', { scene_info }, answers.h5);
      const url = new URL(h5_url);
      if (payment.return_url !== '') url.searchParams.set('redirect_url', payment.return_url);
      return { pay_url: url.toString(), pay_params: {}, provider_ref: '', valid_until };
    }
    if (payment.channel === 'jsapi') {
      const { openid } = payment.params;
      if (!openid) throw paymentErrors.pay_param({ channel: 'jsapi', param: 'openid' });
      const { prepay_id } = await open('jsapi', { payer: { openid } }, answers.jsapi);
      const params = {
        ...{ appId: settings.get(appId), timeStamp: String(Math.trunc(now().getTime() / 1000)) },
        ...{ nonceStr: randomBytes(16).toString('hex'), package: `prepay_id=${prepay_id}` },
      };
      const { appId: app, timeStamp, nonceStr, package: prepay } = params;
      const paySign = signed(`${app}\n${timeStamp}\n${nonceStr}\n${prepay}\n`, api.merchantKey());
      return { pay_url: '', pay_params: { ...params, signType: 'RSA', paySign }, provider_ref: prepay_id, valid_until };
    }
    const { code_url } = await open('native', { scene_info: { payer_client_ip } }, answers.native);
    return { pay_url: '', pay_params: { code_url }, provider_ref: '', valid_until };
  };
}

async function refund(
  api: WechatApi,
  runtime: ProviderRuntime,
  { refund_no, trade_no, amount, payment_amount, currency, reason }: RefundRequest,
  signal: AbortSignal,
): Promise<RefundAnswer> {
  const notify_url = notifyAddress(runtime);
  const body = {
    ...{ transaction_id: trade_no, out_refund_no: refund_no, reason: reason.slice(0, 80) },
    ...(notify_url === '' ? {} : { notify_url }),
    amount: { refund: amount, total: payment_amount, currency },
  };
  try {
    const answer = await api.call({ method: 'POST', path: '/v3/refund/domestic/refunds', body, signal }, refundAnswer);
    if (answer.out_refund_no !== refund_no || answer.amount.refund !== amount)
      throw new Error('WeChat Pay answered for another refund');
    const { status } = refundRecord(answer);
    if (status !== 'failed') return { status, provider_ref: answer.refund_id };
    return { status, reason: `WeChat Pay reports the refund as ${answer.status}` };
  } catch (error) {
    if (error instanceof WechatError && finalRefusals.has(error.code))
      return { status: 'failed', reason: error.message };
    throw error;
  }
}

export function wechatProvider(runtime: ProviderRuntime): RedirectProvider {
  const { settings } = runtime;
  const api = openWechatApi(runtime);
  const begin = openBegin(api, runtime);
  const merchant = () => `mchid=${encodeURIComponent(settings.get(mchId))}`;
  const find = async ({ payment_no, trade_no, refund_no }: RecordName, signal: AbortSignal) => {
    const by = encodeURIComponent;
    try {
      if (refund_no !== undefined) {
        const path = `/v3/refund/domestic/refunds/${by(refund_no)}`;
        return refundRecord(await api.call({ method: 'GET', path, signal }, refundAnswer));
      }
      const name = trade_no ? `id/${by(trade_no)}` : `out-trade-no/${by(payment_no)}`;
      const path = `/v3/pay/transactions/${name}?${merchant()}`;
      return paymentRecord(await api.call({ method: 'GET', path, signal }, transaction));
    } catch (error) {
      if (isUnknown(error)) return null;
      throw error;
    }
  };
  return {
    ready() {
      const missing = requiredSettings.find((one) => settings.get(one) === '');
      if (missing) throw paymentErrors.provider_not_ready({ provider: providerName, missing: missing.key });
      const currency = settings.get(payCurrency);
      if (currency !== 'CNY')
        throw paymentErrors.currency_unsupported({ provider: providerName, currency, setting: payCurrency.key });
    },
    async begin(payment, site, signal) {
      try {
        return await begin(payment, site, signal);
      } catch (error) {
        if (!(error instanceof WechatError) || error.status >= 500 || error.status === 429) throw error;
        throw paymentErrors.provider_refused({ provider: providerName, reason: error.message });
      }
    },
    notices: (receivers) => [noticeResource(api, receivers, { path: notifyPath, mchId: () => settings.get(mchId) })],
    refund: (request, signal) => refund(api, runtime, request, signal),
    find,
    async close({ payment_no }, signal) {
      const path = `/v3/pay/transactions/out-trade-no/${encodeURIComponent(payment_no)}/close`;
      const body = { mchid: settings.get(mchId) };
      await api.call({ method: 'POST', path, body, signal }, z.null()).catch((error: unknown) => {
        if (!isUnknown(error) && !(error instanceof WechatError && error.code === 'ORDER_CLOSED')) throw error;
      });
    },
    records: (period, signal) => billRecords(api, period, signal),
    stop: api.close,
  };
}
