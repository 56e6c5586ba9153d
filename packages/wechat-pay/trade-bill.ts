import { createHash } from 'node:crypto';
import { toMinor } from '@tradepost/core';
import type { ProviderRecord } from '@tradepost/orders';
import { z } from 'zod';
import { type WechatApi, WechatError } from './wechat-api.ts';

const dayMs = 24 * 60 * 60_000;
/** Bills are of days in China, which has no summer time. */
const chinaMs = 8 * 60 * 60_000;
const pageRows = 500;

const billAnswer = z.object({ hash_type: z.literal('SHA1'), hash_value: z.string(), download_url: z.url() });

const columns = {
  at: '交易时间',
  trade_no: '微信订单号',
  payment_no: '商户订单号',
  state: '交易状态',
  currency: '货币种类',
  refund_no: '商户退款单号',
  refunded: '申请退款金额',
  refund_state: '退款状态',
  total: '订单金额',
} as const;
type Column = keyof typeof columns;

/** Cells begin with a backtick, so that spreadsheet programs do not change long numbers. */
const cellsOf = (line: string): string[] => line.replace(/^`/, '').split(',`');

const inChina = (text: string): Date => new Date(`${text.replace(' ', 'T')}+08:00`);

const refundStates: Readonly<Record<string, ProviderRecord['status']>> = {
  SUCCESS: 'succeeded',
  PROCESSING: 'pending',
};

/** The record of one line of a bill. Null for a reversal, which the shop never makes. */
function recordOf(cell: (column: Column) => string): ProviderRecord | null {
  const shared = { payment_no: cell('payment_no'), trade_no: cell('trade_no'), currency: cell('currency') };
  const at = inChina(cell('at'));
  const state = cell('state');
  if (state === 'SUCCESS')
    return {
      ...shared,
      kind: 'payment',
      refund_no: '',
      amount: toMinor(Number(cell('total'))),
      status: 'succeeded',
      at,
    };
  if (state !== 'REFUND') return null;
  const status = refundStates[cell('refund_state')] ?? 'failed';
  return {
    ...shared,
    kind: 'refund',
    refund_no: cell('refund_no'),
    amount: toMinor(Number(cell('refunded'))),
    status,
    at,
  };
}

/** The records of a bill, in pages. A summary follows the lines of the bill. */
function* billPages(text: string): Generator<ProviderRecord[]> {
  const [head = '', ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const names = head.split(',').map((name) => name.trim());
  const positions = Object.fromEntries(
    Object.entries(columns).map(([key, name]) => [key, names.indexOf(name)]),
  ) as Record<Column, number>;
  const missing = Object.entries(positions).find(([, position]) => position < 0);
  if (missing) throw new Error(`the bill has no column ${columns[missing[0] as Column]}`);
  let page: ProviderRecord[] = [];
  for (const line of lines) {
    if (!line.startsWith('`')) break;
    const cells = cellsOf(line);
    const record = recordOf((column) => cells[positions[column]]?.trim() ?? '');
    if (record) page.push(record);
    if (page.length < pageRows) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** The days in China of a period, as dates. */
function* daysOf({ from, to }: { from: Date; to: Date }): Generator<string> {
  const first = Math.floor((from.getTime() + chinaMs) / dayMs);
  const last = Math.floor((to.getTime() - 1 + chinaMs) / dayMs);
  for (let day = first; day <= last; day += 1) yield new Date(day * dayMs).toISOString().slice(0, 10);
}

/** The bills of a period. A day without payments, and a day whose bill is not ready yet, has none. */
export async function* billRecords(
  api: WechatApi,
  period: { from: Date; to: Date },
  signal: AbortSignal,
): AsyncGenerator<readonly ProviderRecord[]> {
  for (const day of daysOf(period)) {
    const path = `/v3/bill/tradebill?bill_date=${day}&bill_type=ALL`;
    const answer = await api.call({ method: 'GET', path, signal }, billAnswer).catch((error: unknown) => {
      if (error instanceof WechatError && error.code === 'NO_STATEMENT_EXIST') return null;
      throw error;
    });
    if (!answer) continue;
    const bytes = await api.download(answer.download_url, signal);
    if (createHash('sha1').update(bytes).digest('hex') !== answer.hash_value.toLowerCase())
      throw new Error(`the bill of ${day} has another digest than WeChat Pay announced`);
    for (const page of billPages(bytes.toString('utf8')))
      yield page.filter(({ at }) => at >= period.from && at < period.to);
  }
}
