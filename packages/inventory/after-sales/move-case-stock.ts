import type { Runtime } from '@tradepost/runtime';
import type { CaseLine, CaseStock, Deducted, Inventory, InventoryProvider } from '../reservations/provider.ts';
import { insertCaseMoves, selectCaseFacts } from './case-stock-store.ts';

/** The lines with each SKU once. The lines of one order with the same SKU were taken from the same warehouse. */
function summedLines(lines: readonly CaseLine[]): CaseLine[] {
  const bySku = new Map<number, CaseLine>();
  for (const line of lines) {
    const qty = line.qty + (bySku.get(line.sku_id)?.qty ?? 0);
    bySku.set(line.sku_id, { ...(bySku.get(line.sku_id) ?? line), qty });
  }
  return [...bySku.values()];
}

/** Each case once, each SKU once per case. A case that is there twice is one request and its repeat. */
const distinct = (cases: readonly CaseStock[]): CaseStock[] =>
  [...new Map(cases.toReversed().map((one) => [one.biz_no, one])).values()]
    .reverse()
    .map(({ biz_no, lines }) => ({ biz_no, lines: summedLines(lines) }));

/** Restore and deduct at the active provider. A ledger per case and SKU makes a repeat change nothing. */
export function openCaseStock(
  { now }: Pick<Runtime, 'now'>,
  provider: InventoryProvider,
): Pick<Inventory, 'restore' | 'deduct'> {
  return {
    async restore(tx, cases) {
      const at = now();
      const requests = distinct(cases);
      const written = await insertCaseMoves(tx, requests, { action: 'restore', provider: provider.name, now: at });
      const isNew = new Set(written.map((row) => `${row.biz_no} ${row.sku_id}`));
      const fresh = requests
        .map(({ biz_no, lines }) => ({ biz_no, lines: lines.filter((line) => isNew.has(`${biz_no} ${line.sku_id}`)) }))
        .filter(({ lines }) => lines.length > 0);
      return fresh.length > 0 ? provider.restore(tx, fresh, at) : [];
    },
    async deduct(tx, cases) {
      const at = now();
      const requests = distinct(cases);
      const { moved, missing } = await selectCaseFacts(tx, requests, 'deduct');
      const outcomes = new Map<string, Deducted>(requests.map(({ biz_no }) => [biz_no, true]));
      const open = requests.filter(({ biz_no, lines }) => {
        const isMissing = lines.some((line) => missing.has(line.sku_id));
        if (!moved.has(biz_no) && isMissing) outcomes.set(biz_no, 'sku_not_found');
        return !moved.has(biz_no) && !isMissing;
      });
      const decided = open.length > 0 ? await provider.deduct(tx, open, at) : [];
      for (const [index, { biz_no }] of open.entries()) outcomes.set(biz_no, decided[index]!);
      const deducted = open.filter((_, index) => decided[index] === true);
      const written =
        deducted.length > 0
          ? await insertCaseMoves(tx, deducted, { action: 'deduct', provider: provider.name, now: at })
          : [];
      // Another transaction has deducted the same case meanwhile. This one is rolled back.
      if (written.length < deducted.flatMap(({ lines }) => lines).length)
        throw new Error('the stock of an after-sale case was deducted twice at once');
      return cases.map(({ biz_no }) => outcomes.get(biz_no)!);
    },
  };
}
