import { messageOf } from '@tradepost/module';
import type { Sql } from '@tradepost/postgres';
import type { ProviderRecord, RecordName, RedirectProvider } from '../providers/provider.ts';
import {
  type OurRecord,
  type Period,
  selectPaidPage,
  selectPaymentsNamed,
  selectRefundedPage,
  selectRefundsNamed,
} from './reconcile-store.ts';

type Shown = Pick<OurRecord, 'amount' | 'currency' | 'status'>;
/** What differs. `only_at_provider`: the shop has no such payment or refund; `only_in_shop`: the provider has none. */
export type Difference = {
  provider: string;
  kind: 'payment' | 'refund';
  problem: 'amount' | 'currency' | 'status' | 'only_at_provider' | 'only_in_shop';
  payment_no: string;
  refund_no: string;
  trade_no: string;
  shop: Shown | null;
  theirs: Shown | null;
};
/** `error`: why the comparison ended early; empty when it is complete. */
type Compared = { payments: number; refunds: number; differences: Difference[]; more: boolean; error: string };
type Reconciled = { name: string } & Pick<RedirectProvider, 'find'> & Required<Pick<RedirectProvider, 'records'>>;
type Options = { signal: AbortSignal; report: (compared: Compared) => void };

const pageRows = 500;
/** The differences that one run lists. */
const maxDifferences = 1_000;
/** Records that the lists of the provider do not have are asked for one by one. */
const maxAsked = 1_000;

const shownOf = ({ amount, currency, status }: Shown): Shown => ({ amount, currency, status });

function differenceOf(provider: string, ours: OurRecord | undefined, theirs: ProviderRecord | null): Difference | null {
  const of = (theirs ?? ours)!;
  const named = { provider, kind: of.kind, payment_no: ours?.payment_no ?? of.payment_no };
  const { refund_no, trade_no } = of;
  const sides = { shop: ours ? shownOf(ours) : null, theirs: theirs ? shownOf(theirs) : null };
  const found = (problem: Difference['problem']) => ({ ...named, problem, refund_no, trade_no, ...sides });
  if (!ours) return found('only_at_provider');
  if (!theirs) return found('only_in_shop');
  if (ours.amount !== theirs.amount) return found('amount');
  if (ours.currency !== theirs.currency) return found('currency');
  return ours.status === theirs.status ? null : found('status');
}

/** Our rows of a page of records. A payment that was paid twice has two rows: the number of the money decides. */
async function oursOf(sql: Sql, provider: string, page: readonly ProviderRecord[]) {
  const payments = page.filter(({ kind }) => kind === 'payment');
  const refundNos = page.filter(({ refund_no }) => refund_no !== '').map(({ refund_no }) => refund_no);
  const names = {
    payment_nos: payments.map(({ payment_no }) => payment_no),
    trade_nos: payments.map(({ trade_no }) => trade_no),
  };
  const rows = await selectPaymentsNamed(sql, provider, names);
  const byTrade = new Map(rows.map((row) => [row.trade_no, row]));
  const byNumber = new Map(rows.map((row) => [row.payment_no, row]));
  const refunds = new Map((await selectRefundsNamed(sql, provider, refundNos)).map((row) => [row.refund_no, row]));
  return ({ kind, refund_no, trade_no, payment_no }: ProviderRecord): OurRecord | undefined => {
    if (kind === 'refund') return refund_no === '' ? undefined : refunds.get(refund_no);
    const own = byNumber.get(payment_no);
    return byTrade.get(trade_no) ?? (own?.trade_no ? undefined : own);
  };
}

/** Our payments and refunds of a period, in pages. */
async function* ourPages(sql: Sql, provider: string, period: Period): AsyncGenerator<readonly OurRecord[]> {
  for (const select of [selectPaidPage, selectRefundedPage]) {
    let after = { at: new Date(0), id: 0 };
    for (;;) {
      const page = await select(sql, provider, period, after, pageRows);
      if (page.length > 0) yield page;
      if (page.length < pageRows) break;
      after = page.at(-1)!;
    }
  }
}

const nameOf = ({ kind, payment_no, trade_no, refund_no, provider_ref }: OurRecord): RecordName => ({
  ...{ payment_no, trade_no: trade_no || null, provider_ref },
  ...(kind === 'refund' ? { refund_no } : {}),
});

/** Compares first what the provider lists, then what the shop has besides. */
async function compare(
  sql: Sql,
  provider: Reconciled,
  period: Period,
  { signal, report }: Options,
  compared: Compared,
): Promise<void> {
  const { name } = provider;
  const seen = new Set<string>();
  const note = (ours: OurRecord | undefined, theirs: ProviderRecord | null) => {
    compared[(theirs ?? ours)!.kind === 'payment' ? 'payments' : 'refunds'] += 1;
    const difference = differenceOf(name, ours, theirs);
    if (!difference) return;
    if (compared.differences.length < maxDifferences) compared.differences.push(difference);
    else compared.more = true;
  };
  for await (const page of provider.records(period, signal)) {
    const oursFor = await oursOf(sql, name, page);
    for (const theirs of page) {
      const ours = oursFor(theirs);
      if (ours) seen.add(`${ours.kind} ${ours.id}`);
      note(ours, theirs);
    }
    report(compared);
  }
  let asked = 0;
  for await (const page of ourPages(sql, name, period)) {
    for (const ours of page) {
      if (seen.has(`${ours.kind} ${ours.id}`)) continue;
      signal.throwIfAborted();
      asked += 1;
      if (asked > maxAsked)
        throw new Error(`the lists of ${name} do not have ${maxAsked} payments of the shop: are they complete yet?`);
      note(ours, (await provider.find?.(nameOf(ours), signal)) ?? null);
    }
    report(compared);
  }
}

/**
 * Compares the payments and refunds of a period with those of the provider. The clocks of both differ, so the provider is asked for
 * a record of the shop that its lists do not have. After an error, what was found before is returned with it. Rejects when `signal`
 * aborts.
 */
export async function reconcilePayments(
  sql: Sql,
  provider: Reconciled,
  period: Period,
  options: Options,
): Promise<Compared> {
  const compared: Compared = { payments: 0, refunds: 0, differences: [], more: false, error: '' };
  try {
    await compare(sql, provider, period, options, compared);
  } catch (error) {
    options.signal.throwIfAborted();
    compared.error = messageOf(error);
  }
  return compared;
}
