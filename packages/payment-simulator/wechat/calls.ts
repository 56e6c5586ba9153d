import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Ledger, LedgerRefusal } from '../ledger.ts';
import type { Answered, Received } from '../service.ts';
import { account, type Signing } from './signing.ts';
import { tradeBill } from './trade-bill.ts';
import { opening, refunding, refundView, transaction } from './views.ts';

const refusals: Readonly<Record<LedgerRefusal['code'], [number, string]>> = {
  unknown: [404, 'ORDER_NOT_EXIST'],
  paid: [400, 'ORDERPAID'],
  closed: [400, 'ORDER_CLOSED'],
  not_paid: [400, 'INVALID_REQUEST'],
  exceeds: [400, 'INVALID_REQUEST'],
  different: [400, 'INVALID_REQUEST'],
};
type Deps = { ledger: Ledger; signing: Signing; now: () => Date; base: () => string };

function openAnswers({ ledger, signing, now, base }: Deps) {
  const { headersFor } = signing;
  const json = (status: number, value: unknown): Answered => {
    const body = JSON.stringify(value);
    return { status, headers: headersFor(body), body };
  };
  const fault = (status: number, code: string, message: string = code) => json(status, { code, message });

  const open = (channel: string, body: string): Answered => {
    const { out_trade_no: payment_no, description: title, time_expire, ...of } = opening.parse(JSON.parse(body));
    if (channel === 'jsapi' && !of.payer) return fault(400, 'PARAM_ERROR', 'payer is missing');
    if (channel === 'h5' && !of.scene_info?.h5_info) return fault(400, 'PARAM_ERROR', 'scene_info is missing');
    const expires_at = time_expire ? new Date(time_expire) : null;
    if (expires_at && expires_at.getTime() < now().getTime()) return fault(400, 'PARAM_ERROR', 'time_expire is past');
    const { total: amount, currency } = of.amount;
    ledger.open({
      payment_no,
      title,
      amount,
      currency,
      channel,
      notify_url: of.notify_url,
      return_url: '',
      expires_at,
    });
    if (channel === 'native') return json(200, { code_url: `weixin://wxpay/bizpayurl?pr=${payment_no}` });
    if (channel === 'h5') return json(200, { h5_url: `${base()}/cashier/wechat/${payment_no}` });
    return json(200, { prepay_id: `wx${payment_no}` });
  };
  const refund = (body: string): Answered => {
    const { transaction_id, out_refund_no: refund_no, notify_url = '', amount } = refunding.parse(JSON.parse(body));
    const of = ledger.byTradeNo(transaction_id);
    if (amount.total !== of.amount) return fault(400, 'PARAM_ERROR', 'amount.total is not that of the payment');
    const { payment_no } = of;
    const made = ledger.startRefund(
      { refund_no, payment_no, amount: amount.refund, notify_url, status: 'processing' },
      '503',
    );
    return json(200, refundView(ledger, made));
  };
  const bill = (query: URLSearchParams): Answered => {
    const text = tradeBill(ledger, account, query.get('bill_date') ?? '');
    if (text === null) return fault(400, 'NO_STATEMENT_EXIST');
    const hash_value = createHash('sha1').update(text).digest('hex');
    return json(200, {
      hash_type: 'SHA1',
      hash_value,
      download_url: `${base()}/wechat/v3/billdownload/file?token=${query.get('bill_date')}`,
    });
  };

  return { json, fault, open, refund, bill };
}

/** Answers the calls of the protocol. */
export function openCalls(deps: Deps) {
  const { ledger, signing } = deps;
  const { headersFor, seal, platforms } = signing;
  const { json, fault, open, refund, bill } = openAnswers(deps);
  const route = ({ method, target, body }: Received): Answered => {
    const url = new URL(target, 'http://simulator');
    const path = `${method} ${url.pathname}`;
    if (path === 'GET /v3/certificates')
      return json(200, {
        data: platforms.map(({ serial, pem }) => ({
          serial_no: serial,
          encrypt_certificate: seal(pem, 'certificate'),
        })),
      });
    const opened = /^POST \/v3\/pay\/transactions\/(native|h5|jsapi)$/.exec(path);
    if (opened) return open(opened[1]!, body);
    const byNumber = /^(GET|POST) \/v3\/pay\/transactions\/out-trade-no\/([^/]+)(\/close)?$/.exec(path);
    if (byNumber?.[1] === 'GET') return json(200, transaction(ledger.trade(byNumber[2]!)));
    if (byNumber?.[3]) {
      ledger.close(byNumber[2]!);
      return { status: 204, headers: headersFor(''), body: '' };
    }
    const byId = /^GET \/v3\/pay\/transactions\/id\/([^/]+)$/.exec(path);
    if (byId) return json(200, transaction(ledger.byTradeNo(byId[1]!)));
    if (path === 'POST /v3/refund/domestic/refunds') return refund(body);
    const byRefund = /^GET \/v3\/refund\/domestic\/refunds\/([^/]+)$/.exec(path);
    if (byRefund) return json(200, refundView(ledger, ledger.refund(byRefund[1]!)));
    if (path === 'GET /v3/bill/tradebill') return bill(url.searchParams);
    if (path === 'GET /v3/billdownload/file')
      return { status: 200, body: tradeBill(ledger, account, url.searchParams.get('token') ?? '') ?? '' };
    return fault(404, 'NOT_FOUND');
  };

  return (request: Received): Answered => {
    if (!signing.isAuthorized(request)) return fault(401, 'SIGN_ERROR');
    try {
      return route(request);
    } catch (error) {
      if (error instanceof LedgerRefusal) return fault(...refusals[error.code]);
      if (error instanceof z.ZodError || error instanceof SyntaxError)
        return fault(400, 'PARAM_ERROR', error.message.slice(0, 200));
      throw error;
    }
  };
}
