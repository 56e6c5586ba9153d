import { type Action, type Answer, codes, type Intent, type Item } from './protocol.ts';

/** `by_sync` and `by_documents` add up to `net_change`, what on_hand has changed by since the ledger was opened. */
export type SkuRow = {
  sku_id: number;
  on_hand: number;
  reserved: number;
  net_change: number;
  by_documents: number;
  by_sync: number;
};
/** `state` is that of the reservation: null without one. */
export type DocumentRow = {
  biz_type: string;
  biz_no: string;
  state: 'reserved' | 'confirmed' | 'released' | null;
  items: readonly Item[];
  deducted: readonly Item[];
  restored: readonly Item[];
};
export type SellableRow = { sku_id: number; sellable_stock: number; reserved: number; on_hand: number };

const done: Answer = { code: codes.done, message: 'done' };
const refused = (message: string): Answer => ({ code: codes.business, message });
const isSame = (a: readonly Item[], b: readonly Item[]) => JSON.stringify(a) === JSON.stringify(b);

/** What is there of each SKU, and what each document holds of it. */
export function openLedger(unknownStock: number) {
  let stockOfUnknown = unknownStock;
  const skus = new Map<number, SkuRow>();
  const documents = new Map<string, DocumentRow>();

  const skuOf = (sku_id: number): SkuRow => {
    let sku = skus.get(sku_id);
    if (!sku) {
      sku = { sku_id, on_hand: stockOfUnknown, reserved: 0, net_change: 0, by_documents: 0, by_sync: 0 };
      skus.set(sku_id, sku);
    }
    return sku;
  };
  const documentOf = ({ biz_type, biz_no }: Intent): DocumentRow => {
    const key = `${biz_type}:${biz_no}`;
    let document = documents.get(key);
    if (!document) {
      document = { biz_type, biz_no, state: null, items: [], deducted: [], restored: [] };
      documents.set(key, document);
    }
    return document;
  };
  const move = (sku: SkuRow, change: number, by: 'by_documents' | 'by_sync') => {
    sku.on_hand += change;
    sku.net_change += change;
    sku[by] += change;
  };
  /** All lines or none. */
  const shortage = (items: readonly Item[]): Answer | null => {
    for (const { sku_id, qty } of items) {
      const { on_hand, reserved } = skuOf(sku_id);
      if (on_hand - reserved < qty)
        return { code: codes.insufficient, message: `SKU ${sku_id}: ${on_hand - reserved} sellable, ${qty} asked for` };
    }
    return null;
  };
  const setOnHand = (sku_id: number, stock: number) => {
    const sku = skuOf(sku_id);
    move(sku, Math.max(stock, sku.reserved) - sku.on_hand, 'by_sync');
  };

  const rules: Record<Action, (intent: Intent) => Answer> = {
    reserve(intent) {
      const document = documentOf(intent);
      if (document.state === 'reserved' && isSame(document.items, intent.items)) return done;
      // Also after a release that came first: a reserve that arrives behind it must not hold stock for ever.
      if (document.state !== null) return refused(`the document is ${document.state} already`);
      const short = shortage(intent.items);
      if (short) return short;
      for (const { sku_id, qty } of intent.items) skuOf(sku_id).reserved += qty;
      Object.assign(document, { state: 'reserved', items: intent.items });
      return done;
    },
    confirm(intent) {
      const document = documentOf(intent);
      if (document.state === 'confirmed') return done;
      if (document.state !== 'reserved')
        return refused(`nothing is reserved, the document is ${document.state ?? 'new'}`);
      for (const { sku_id, qty } of document.items) {
        const sku = skuOf(sku_id);
        sku.reserved -= qty;
        move(sku, -qty, 'by_documents');
      }
      document.state = 'confirmed';
      return done;
    },
    release(intent) {
      const document = documentOf(intent);
      if (document.state === 'confirmed') return refused('the document is confirmed already');
      if (document.state === 'reserved') for (const { sku_id, qty } of document.items) skuOf(sku_id).reserved -= qty;
      document.state = 'released';
      return done;
    },
    deduct(intent) {
      const short = shortage(intent.items);
      if (short) return short;
      for (const { sku_id, qty } of intent.items) move(skuOf(sku_id), -qty, 'by_documents');
      documentOf(intent).deducted = intent.items;
      return done;
    },
    restore(intent) {
      for (const { sku_id, qty } of intent.items) move(skuOf(sku_id), qty, 'by_documents');
      documentOf(intent).restored = intent.items;
      return done;
    },
    sync_sku({ items: [sku] }) {
      setOnHand(sku!.sku_id, sku!.qty);
      return done;
    },
  };

  return {
    apply: (intent: Intent): Answer => rules[intent.action](intent),
    setOnHand,
    setStockOfUnknown(stock: number) {
      stockOfUnknown = stock;
    },
    sellable: (ids: readonly number[]): SellableRow[] =>
      ids.map((sku_id) => {
        const { on_hand, reserved } = skus.get(sku_id) ?? { on_hand: stockOfUnknown, reserved: 0 };
        return { sku_id, sellable_stock: on_hand - reserved, reserved, on_hand };
      }),
    skus: (): SkuRow[] => [...skus.values()].map((sku) => ({ ...sku })).sort((a, b) => a.sku_id - b.sku_id),
    /** Without those that were only refused. */
    documents: (): DocumentRow[] =>
      [...documents.values()]
        .filter(({ state, deducted, restored }) => state !== null || deducted.length + restored.length > 0)
        .map((document) => ({ ...document })),
  };
}
export type Ledger = ReturnType<typeof openLedger>;
