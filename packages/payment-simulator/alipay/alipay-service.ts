import { createSign, createVerify, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Ledger, LedgerRefusal, type Trade } from '../ledger.ts';
import type { Answered, Notice, NoticeOptions, PaymentService, Received } from '../service.ts';
import { billZip, chinaTime } from './trade-bill.ts';

const appId = '2021000000000001';
const yuan = (cents: number) => (cents / 100).toFixed(2);
const amount = z
  .string()
  .regex(/^\d+\.\d{2}$/)
  .transform((text) => Math.round(Number(text) * 100));

const opening = z.object({
  out_trade_no: z.string().min(1).max(64),
  total_amount: amount,
  subject: z.string().min(1).max(256),
  product_code: z.enum(['FAST_INSTANT_TRADE_PAY', 'QUICK_WAP_WAY', 'QUICK_MSECURITY_PAY']),
  time_expire: z.string().optional(),
});
const named = z.object({ out_trade_no: z.string().optional(), trade_no: z.string().optional() });
const refunding = named.extend({ refund_amount: amount, out_request_no: z.string().min(1).max(64) });
const refundQuery = named.extend({ out_request_no: z.string() });

const refusals: Readonly<Record<LedgerRefusal['code'], string>> = {
  unknown: 'ACQ.TRADE_NOT_EXIST',
  paid: 'ACQ.TRADE_STATUS_ERROR',
  closed: 'ACQ.TRADE_STATUS_ERROR',
  not_paid: 'ACQ.TRADE_STATUS_ERROR',
  exceeds: 'ACQ.REFUND_AMT_NOT_EQUAL_TOTAL',
  different: 'ACQ.DISCORDANT_REPEAT_REQUEST',
};

const joined = (fields: Readonly<Record<string, string>>, without: readonly string[]) =>
  Object.entries(fields)
    .filter(([name, value]) => value !== '' && !without.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
const sign = (text: string, key: KeyObject) => createSign('RSA-SHA256').update(text).sign(key, 'base64');

type Answer = Readonly<Record<string, unknown>>;
type Calls = Readonly<Record<string, (content: unknown, fields: Readonly<Record<string, string>>) => Answer>>;

/** Opens the payment of a page or of an app, as the shopper does who goes there. */
function openTrade(ledger: Ledger, content: unknown, fields: Readonly<Record<string, string>>): Trade {
  const { out_trade_no: payment_no, total_amount, subject: title, product_code, time_expire } = opening.parse(content);
  const expires_at = time_expire ? new Date(`${time_expire.replace(' ', 'T')}+08:00`) : null;
  const { notify_url = '', return_url = '' } = fields;
  const of = {
    payment_no,
    title,
    amount: total_amount,
    currency: 'CNY',
    channel: product_code,
    notify_url,
    return_url,
  };
  return ledger.open({ ...of, expires_at });
}

const stateOf = (ledger: Ledger, of: Trade): string => {
  if (of.status === 'open') return 'WAIT_BUYER_PAY';
  return of.status === 'closed' || ledger.refundedOf(of.payment_no) === of.amount ? 'TRADE_CLOSED' : 'TRADE_SUCCESS';
};

/** The calls of the gateway, by method. */
function openCalls(ledger: Ledger, base: () => string): Calls {
  const find = (content: unknown): Trade => {
    const { trade_no, out_trade_no = '' } = named.parse(content);
    return trade_no ? ledger.byTradeNo(trade_no) : ledger.trade(out_trade_no);
  };
  const view = (of: Trade) => ({ out_trade_no: of.payment_no, trade_no: of.trade_no });
  return {
    'alipay.trade.query': (content) => {
      const of = find(content);
      const paid = of.paid_at ? { send_pay_date: chinaTime(of.paid_at) } : {};
      return { ...view(of), trade_status: stateOf(ledger, of), total_amount: yuan(of.amount), ...paid };
    },
    'alipay.trade.close': (content) => view(ledger.close(find(content).payment_no)),
    'alipay.trade.refund': (content) => {
      const { refund_amount, out_request_no: refund_no } = refunding.parse(content);
      const of = find(content);
      const isNew = !ledger.refunds().some((one) => one.refund_no === refund_no);
      const given = { refund_no, payment_no: of.payment_no, amount: refund_amount, notify_url: of.notify_url };
      ledger.startRefund({ ...given, status: 'succeeded' }, 'R');
      const refund_fee = yuan(ledger.refundedOf(of.payment_no));
      return { ...view(of), fund_change: isNew ? 'Y' : 'N', refund_fee };
    },
    'alipay.trade.fastpay.refund.query': (content) => {
      const { out_request_no } = refundQuery.parse(content);
      const of = find(content);
      const refund = ledger.refunds().find((one) => one.refund_no === out_request_no);
      if (!refund) return {};
      return {
        ...{ ...view(of), out_request_no, refund_amount: yuan(refund.amount), total_amount: yuan(of.amount) },
        ...(refund.status === 'succeeded'
          ? { refund_status: 'REFUND_SUCCESS', gmt_refund_pay: chinaTime(refund.at) }
          : {}),
      };
    },
    'alipay.data.dataservice.bill.downloadurl.query': (content) => {
      const { bill_date } = z.object({ bill_type: z.literal('trade'), bill_date: z.string() }).parse(content);
      if (billZip(ledger, bill_date) === null) throw new BillMissing();
      return { bill_download_url: `${base()}/alipay/bill?day=${bill_date}` };
    },
  };
}
class BillMissing extends Error {}

function codeOf(error: unknown): string {
  if (error instanceof BillMissing) return 'isp.bill_not_exist';
  if (error instanceof LedgerRefusal) return refusals[error.code];
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'ACQ.INVALID_PARAMETER';
  throw error;
}

type Keys = { app: KeyObject; own: KeyObject };

/** Answers requests to the gateway. `own` signs the answers, `app` verifies the requests. */
function openGateway(ledger: Ledger, { app, own }: Keys, base: () => string) {
  const calls = openCalls(ledger, base);
  const signed = (name: string, answer: Answer): Answered => {
    // As Alipay does, with a slash that is escaped: the signature covers the text, not its values.
    const text = JSON.stringify(answer).replaceAll('/', '\\/');
    return { status: 200, body: `{"${name}":${text},"sign":"${sign(text, own)}"}` };
  };
  const invalid = (sub_code: string): Answered => ({
    status: 200,
    body: JSON.stringify({ error_response: { code: '40002', msg: 'Invalid Arguments', sub_code, sub_msg: sub_code } }),
  });
  return ({ method, target, body }: Received): Answered => {
    const url = new URL(target, 'http://simulator');
    if (url.pathname === '/bill') {
      const zip = billZip(ledger, url.searchParams.get('day') ?? '');
      return { status: zip ? 200 : 404, headers: { 'content-type': 'application/zip' }, body: zip ?? '' };
    }
    const fields = Object.fromEntries(method === 'GET' ? url.searchParams : new URLSearchParams(body));
    if (fields.app_id !== appId || fields.sign_type !== 'RSA2') return invalid('isv.invalid-app-id');
    const verified = createVerify('RSA-SHA256')
      .update(joined(fields, ['sign']))
      .verify(app, fields.sign ?? '', 'base64');
    if (!verified) return invalid('isv.invalid-signature');
    const name = `${fields.method?.replaceAll('.', '_')}_response`;
    try {
      const content: unknown = JSON.parse(fields.biz_content ?? '');
      if (/^alipay\.trade\.(page|wap|app)\.pay$/.test(fields.method ?? '')) {
        const { payment_no } = openTrade(ledger, content, fields);
        return { status: 302, headers: { location: `${base()}/cashier/alipay/${payment_no}` }, body: '' };
      }
      const call = calls[fields.method ?? ''];
      if (!call) return invalid('isv.invalid-method');
      return signed(name, { code: '10000', msg: 'Success', ...call(content, fields) });
    } catch (error) {
      const sub_code = codeOf(error);
      return signed(name, { code: '40004', msg: 'Business Failed', sub_code, sub_msg: sub_code });
    }
  };
}

/** Alipay with RSA2. */
export function openAlipay(ledger: Ledger, { now, base }: { now: () => Date; base: () => string }): PaymentService {
  const app = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const unknown = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const notice = (of: Trade, more: Readonly<Record<string, string>>, options: NoticeOptions): Notice => {
    const { amount: cents = of.amount, wrongSignature = false, age = 0, account = appId } = options;
    const fields: Record<string, string> = {
      ...{ app_id: account, charset: 'utf-8', version: '1.0', sign_type: 'RSA2', notify_type: 'trade_status_sync' },
      ...{
        notify_id: randomBytes(16).toString('hex'),
        notify_time: chinaTime(new Date(now().getTime() - age * 1_000)),
      },
      ...{ out_trade_no: of.payment_no, trade_no: of.trade_no, trade_status: stateOf(ledger, of) },
      ...{
        total_amount: yuan(cents),
        subject: of.title,
        gmt_payment: of.paid_at ? chinaTime(of.paid_at) : '',
        ...more,
      },
    };
    const key = wrongSignature ? unknown.privateKey : own.privateKey;
    const body = new URLSearchParams({ ...fields, sign: sign(joined(fields, ['sign', 'sign_type']), key) });
    return {
      url: of.notify_url,
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body: body.toString(),
    };
  };
  return {
    name: 'alipay',
    ledger,
    answer: openGateway(ledger, { app: app.publicKey, own: own.privateKey }, base),
    pay: (paymentNo, more) => void ledger.pay(paymentNo, '2026', more),
    paymentNotice: (paymentNo, options = {}) => notice(ledger.trade(paymentNo), {}, options),
    refundNotice(refundNo, options = {}) {
      const { payment_no, refund_no, at } = ledger.refund(refundNo);
      const refund_fee = yuan(ledger.refundedOf(payment_no));
      return notice(
        ledger.trade(payment_no),
        { out_biz_no: refund_no, refund_fee, gmt_refund: chinaTime(at) },
        options,
      );
    },
    settings: () => [
      { key: 'alipay.gateway_url', value: `${base()}/alipay/gateway.do` },
      { key: 'alipay.app_id', value: appId },
      { key: 'alipay.public_key', value: own.publicKey.export({ type: 'spki', format: 'der' }).toString('base64') },
      {
        key: 'alipay.private_key',
        value: app.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
        secret: true,
      },
    ],
  };
}
