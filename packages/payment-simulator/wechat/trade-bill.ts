import type { Ledger } from '../ledger.ts';

const columns = [
  ...['交易时间', '公众账号ID', '商户号', '特约商户号', '设备号', '微信订单号', '商户订单号', '用户标识', '交易类型'],
  ...['交易状态', '付款银行', '货币种类', '应结订单金额', '代金券金额', '微信退款单号', '商户退款单号', '退款金额'],
  ...['充值券退款金额', '退款类型', '退款状态', '商品名称', '商户数据包', '手续费', '费率', '订单金额', '申请退款金额'],
  '费率备注',
];
const chinaMs = 8 * 3_600_000;
const yuan = (cents: number) => (cents / 100).toFixed(2);
const local = (at: Date) => new Date(at.getTime() + chinaMs).toISOString().slice(0, 19).replace('T', ' ');
const line = (cells: Readonly<Record<string, string>>) => columns.map((name) => `\`${cells[name] ?? ''}`).join(',');

/** The bill of a day in China: payments, refunds, and a summary. Null when nothing happened. */
export function tradeBill(ledger: Ledger, account: { appId: string; mchId: string }, day: string): string | null {
  const shared = { 公众账号ID: account.appId, 商户号: account.mchId };
  const paid = ledger.trades().filter(({ paid_at }) => paid_at && local(paid_at).startsWith(day));
  const refunds = ledger.refunds().filter(({ at }) => local(at).startsWith(day));
  if (paid.length + refunds.length === 0) return null;
  const lines = [
    ...paid.map((of) =>
      line({
        ...{ ...shared, 交易时间: local(of.paid_at!), 微信订单号: of.trade_no, 商户订单号: of.payment_no },
        ...{ 交易类型: of.channel.toUpperCase(), 交易状态: 'SUCCESS', 货币种类: of.currency, 商品名称: of.title },
        ...{ 应结订单金额: yuan(of.amount), 订单金额: yuan(of.amount), 退款金额: '0.00', 申请退款金额: '0.00' },
      }),
    ),
    ...refunds.map((of) => {
      const { trade_no, amount, channel } = ledger.trade(of.payment_no);
      const state = { processing: 'PROCESSING', succeeded: 'SUCCESS', failed: 'FAIL' }[of.status];
      return line({
        ...{ ...shared, 交易时间: local(of.at), 微信订单号: trade_no, 商户订单号: of.payment_no },
        ...{ 交易类型: channel.toUpperCase(), 交易状态: 'REFUND', 货币种类: of.currency, 微信退款单号: of.refund_id },
        ...{ 商户退款单号: of.refund_no, 退款金额: yuan(of.amount), 申请退款金额: yuan(of.amount), 退款状态: state },
        ...{ 订单金额: yuan(amount), 退款类型: 'ORIGINAL' },
      });
    }),
  ];
  return `\uFEFF${columns.join(',')}\r\n${lines.join('\r\n')}\r\n总交易单数,应结订单总金额\r\n\`${lines.length},\`0.00\r\n`;
}
