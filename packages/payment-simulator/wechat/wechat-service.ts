import { randomBytes } from 'node:crypto';
import type { Ledger } from '../ledger.ts';
import type { Notice, NoticeOptions, PaymentService } from '../service.ts';
import { openCalls } from './calls.ts';
import { account, openSigning } from './signing.ts';
import { china, refundView, transaction } from './views.ts';

export type WechatService = PaymentService & {
  /** Adds a platform certificate, which signs everything from now on. The former one stays known until `retire`. */
  rotate(): void;
  /** Removes all platform certificates but the last. */
  retire(): void;
  /** Whether the merchant has a public key of WeChat Pay instead of certificates. */
  usePublicKey(uses: boolean): { id: string; pem: string };
};

/** The merchant side of WeChat Pay, API v3. `base` is the address of the simulator. */
export function openWechat(ledger: Ledger, { now, base }: { now: () => Date; base: () => string }): WechatService {
  const signing = openSigning(now);
  const { headersFor, merchant, merchantSerial, seal } = signing;
  const notice = (event_type: string, type: string, url: string, content: unknown, options: NoticeOptions): Notice => {
    const resource = { original_type: type, ...seal(JSON.stringify(content), type) };
    const body = JSON.stringify({
      ...{ id: randomBytes(16).toString('hex'), create_time: china(now()), resource_type: 'encrypt-resource' },
      ...{ event_type, summary: event_type, resource },
    });
    return { url, headers: headersFor(body, options), body };
  };

  return {
    name: 'wechat',
    ledger,
    rotate: signing.rotate,
    retire: signing.retire,
    usePublicKey: signing.usePublicKey,
    answer: openCalls({ ledger, signing, now, base }),
    pay: (paymentNo, more) => void ledger.pay(paymentNo, '42', more),
    paymentNotice(paymentNo, options = {}) {
      const of = ledger.trade(paymentNo);
      const { amount = of.amount, currency = of.currency, account: mchid = account.mchId } = options;
      const content = { ...transaction({ ...of, amount, currency }), mchid };
      return notice('TRANSACTION.SUCCESS', 'transaction', of.notify_url, content, options);
    },
    refundNotice(refundNo, options = {}) {
      const of = ledger.refund(refundNo);
      const { status, amount, ...view } = refundView(ledger, of);
      const content = {
        ...{ ...view, mchid: account.mchId, refund_status: status },
        amount: {
          total: amount.total,
          refund: options.amount ?? amount.refund,
          payer_total: amount.total,
          payer_refund: amount.refund,
        },
      };
      const event = of.status === 'failed' ? 'REFUND.ABNORMAL' : 'REFUND.SUCCESS';
      return notice(event, 'refund', of.notify_url || ledger.trade(of.payment_no).notify_url, content, options);
    },
    settings: () => [
      { key: 'wechat_pay.api_url', value: `${base()}/wechat` },
      { key: 'wechat_pay.app_id', value: account.appId },
      { key: 'wechat_pay.mch_id', value: account.mchId },
      { key: 'wechat_pay.serial_no', value: merchantSerial },
      { key: 'wechat_pay.api_v3_key', value: account.apiV3Key, secret: true },
      {
        key: 'wechat_pay.private_key',
        value: merchant.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
        secret: true,
      },
    ],
  };
}
