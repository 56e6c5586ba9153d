import { toMinor } from '@tradepost/core';
import type { ProviderRecord } from '@tradepost/orders';
import { unzipSync } from 'fflate';
import { z } from 'zod';
import { type AlipayApi, AlipayError, fromChinaTime } from './alipay-api.ts';

const dayMs = 24 * 60 * 60_000;
const chinaMs = 8 * 60 * 60_000;
const pageRows = 500;
/** A bill that unpacks to more is refused. */
const maxBillBytes = 256 * 1024 * 1024;

const billAnswer = z.object({ bill_download_url: z.url() });
const columns = {
  trade_no: '支付宝交易号',
  payment_no: '商户订单号',
  kind: '业务类型',
  title: '商品名称',
  at: '完成时间',
  amount: '订单金额（元）',
  refund_no: '退款批次号/请求号',
} as const;
type Column = keyof typeof columns;

/** The file with the single payments. The archive has a summary too, whose name says so. */
function detailsOf(zip: Uint8Array): string {
  const files = unzipSync(zip, {
    filter: ({ name, originalSize }) => {
      if (originalSize > maxBillBytes) throw new Error('the bill of Alipay is too large');
      return name.endsWith('.csv');
    },
  });
  const texts = Object.values(files).map((bytes) => new TextDecoder('gbk').decode(bytes));
  return texts.find((text) => text.includes(columns.kind) && text.includes(columns.refund_no)) ?? '';
}

/** The cells of a line. Only the title can have commas: the surplus cells belong to it. */
function cellsOf(line: string, names: readonly string[]): string[] {
  const cells = line.split(',').map((cell) => cell.trim());
  const surplus = cells.length - names.length;
  const at = names.indexOf(columns.title);
  if (surplus > 0 && at >= 0) cells.splice(at, surplus + 1, cells.slice(at, at + surplus + 1).join(','));
  return cells;
}

function recordOf(cell: (column: Column) => string): ProviderRecord | null {
  const kind = { 交易: 'payment', 退款: 'refund' }[cell('kind')] as ProviderRecord['kind'] | undefined;
  if (!kind) return null;
  return {
    ...{ kind, payment_no: cell('payment_no'), trade_no: cell('trade_no'), currency: 'CNY', status: 'succeeded' },
    // Refunds are negative.
    ...{ amount: Math.abs(toMinor(Number(cell('amount')))), refund_no: kind === 'refund' ? cell('refund_no') : '' },
    at: fromChinaTime(cell('at')),
  };
}

/** The records of a bill, in pages. Lines that begin with # are comments. */
function* billPages(text: string): Generator<ProviderRecord[]> {
  const lines = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
  const names = (lines.shift() ?? '').split(',').map((name) => name.trim());
  const missing = Object.values(columns).find((name) => !names.includes(name));
  if (missing) throw new Error(`the bill has no column ${missing}`);
  for (let from = 0; from < lines.length; from += pageRows)
    yield lines.slice(from, from + pageRows).flatMap((line) => {
      const cells = cellsOf(line, names);
      return recordOf((column) => cells[names.indexOf(columns[column])] ?? '') ?? [];
    });
}

/** The bills of a period, of days in China. A day without payments, and a day whose bill is not ready yet, has none. */
export async function* billRecords(
  api: AlipayApi,
  { from, to }: { from: Date; to: Date },
  signal: AbortSignal,
): AsyncGenerator<readonly ProviderRecord[]> {
  const first = Math.floor((from.getTime() + chinaMs) / dayMs);
  const last = Math.floor((to.getTime() - 1 + chinaMs) / dayMs);
  for (let day = first; day <= last; day += 1) {
    const bill_date = new Date(day * dayMs).toISOString().slice(0, 10);
    const content = { bill_type: 'trade', bill_date };
    const method = 'alipay.data.dataservice.bill.downloadurl.query';
    const answer = await api.call({ method, content }, billAnswer, signal).catch((error: unknown) => {
      if (error instanceof AlipayError && /bill_not_exist/i.test(error.code)) return null;
      throw error;
    });
    if (!answer) continue;
    const text = detailsOf(await api.download(answer.bill_download_url, signal));
    for (const page of billPages(text)) yield page.filter(({ at }) => at >= from && at < to);
  }
}
