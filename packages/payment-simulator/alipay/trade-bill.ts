import { zipSync } from 'fflate';
import type { Ledger } from '../ledger.ts';
import { gbkOf } from './gbk.ts';

const columns = [
  ...['支付宝交易号', '商户订单号', '业务类型', '商品名称', '创建时间', '完成时间', '门店编号', '门店名称', '操作员'],
  ...['终端号', '对方账户', '订单金额（元）', '商家实收（元）', '退款批次号/请求号', '服务费（元）', '备注'],
];
const yuan = (cents: number) => (cents / 100).toFixed(2);
export const chinaTime = (at: Date) =>
  new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
const line = (cells: Readonly<Record<string, string>>) => columns.map((name) => `${cells[name] ?? ''}\t`).join(',');

/** The bill of a day in China as a ZIP file with two CSV files in GBK. Null when nothing happened. */
export function billZip(ledger: Ledger, day: string): Uint8Array | null {
  const paid = ledger.trades().filter(({ paid_at }) => paid_at && chinaTime(paid_at).startsWith(day));
  const refunds = ledger.refunds().filter(({ at, status }) => status === 'succeeded' && chinaTime(at).startsWith(day));
  if (paid.length + refunds.length === 0) return null;
  const lines = [
    ...paid.map((of) =>
      line({
        ...{ 支付宝交易号: of.trade_no, 商户订单号: of.payment_no, 业务类型: '交易', 商品名称: of.title },
        ...{ 完成时间: chinaTime(of.paid_at!), '订单金额（元）': yuan(of.amount) },
      }),
    ),
    ...refunds.map((of) =>
      line({
        ...{ 支付宝交易号: ledger.trade(of.payment_no).trade_no, 商户订单号: of.payment_no, 业务类型: '退款' },
        ...{ 商品名称: ledger.trade(of.payment_no).title, 完成时间: chinaTime(of.at) },
        ...{ '订单金额（元）': `-${yuan(of.amount)}`, '退款批次号/请求号': of.refund_no },
      }),
    ),
  ];
  const details = ['#支付宝业务明细查询', columns.join(','), ...lines, '#业务明细列表结束', ''].join('\r\n');
  return zipSync({
    'details.csv': gbkOf(details),
    'summary.csv': gbkOf('#支付宝业务汇总查询\r\n#汇总\r\n'),
  });
}
