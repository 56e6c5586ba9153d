import { type Action, type Answer, codes, type Intent, type Item } from '../protocol.ts';

/** `net_change` is the change of on_hand since the ledger was opened. It is the sum of `by_sync` and `by_documents`. */
export type SkuRow = {
  sku_id: number;
  on_hand: number;
  reserved: number;
  net_change: number;
  by_documents: number;
  by_sync: number;
};
/** `state`: the state of the reservation, null without a reservation. */
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

/** The stock of each SKU, and the quantities that each document reserved or deducted. */
export class Ledger {
  readonly #skus = new Map<number, SkuRow>();
  readonly #documents = new Map<string, DocumentRow>();
  #initialStock: number;

  constructor(initialStock: number) {
    this.#initialStock = initialStock;
  }

  apply(intent: Intent): Answer {
    return this.#rules[intent.action](intent);
  }

  setOnHand(sku_id: number, stock: number): void {
    const sku = this.#skuOf(sku_id);
    this.#move(sku, Math.max(stock, sku.reserved) - sku.on_hand, 'by_sync');
  }

  setInitialStock(stock: number): void {
    this.#initialStock = stock;
  }

  sellable(ids: readonly number[]): SellableRow[] {
    return ids.map((sku_id) => {
      const { on_hand, reserved } = this.#skus.get(sku_id) ?? { on_hand: this.#initialStock, reserved: 0 };
      return { sku_id, sellable_stock: on_hand - reserved, reserved, on_hand };
    });
  }

  skus(): SkuRow[] {
    return [...this.#skus.values()].map((sku) => ({ ...sku })).sort((a, b) => a.sku_id - b.sku_id);
  }

  /** All documents, except those whose actions were all refused. */
  documents(): DocumentRow[] {
    return [...this.#documents.values()]
      .filter(({ state, deducted, restored }) => state !== null || deducted.length + restored.length > 0)
      .map((document) => ({ ...document }));
  }

  readonly #rules: Readonly<Record<Action, (intent: Intent) => Answer>> = {
    reserve: (intent) => this.#reserve(intent),
    confirm: (intent) => this.#confirm(intent),
    release: (intent) => this.#release(intent),
    deduct: (intent) => this.#deduct(intent),
    restore: (intent) => this.#restore(intent),
    sync_sku: ({ items: [sku] }) => {
      this.setOnHand(sku!.sku_id, sku!.qty);
      return done;
    },
  };

  #reserve(intent: Intent): Answer {
    const document = this.#documentOf(intent);
    if (document.state === 'reserved' && isSame(document.items, intent.items)) return done;
    // A released document is refused too: a reserve that arrives after its release must not reserve stock for ever.
    if (document.state !== null) return refused(`the document is ${document.state} already`);
    const short = this.#shortage(intent.items);
    if (short) return short;
    for (const { sku_id, qty } of intent.items) this.#skuOf(sku_id).reserved += qty;
    Object.assign(document, { state: 'reserved', items: intent.items });
    return done;
  }

  #confirm(intent: Intent): Answer {
    const document = this.#documentOf(intent);
    if (document.state === 'confirmed') return done;
    if (document.state !== 'reserved')
      return refused(`nothing is reserved, the document is ${document.state ?? 'new'}`);
    for (const { sku_id, qty } of document.items) {
      const sku = this.#skuOf(sku_id);
      sku.reserved -= qty;
      this.#move(sku, -qty, 'by_documents');
    }
    document.state = 'confirmed';
    return done;
  }

  #release(intent: Intent): Answer {
    const document = this.#documentOf(intent);
    if (document.state === 'confirmed') return refused('the document is confirmed already');
    if (document.state === 'reserved')
      for (const { sku_id, qty } of document.items) this.#skuOf(sku_id).reserved -= qty;
    document.state = 'released';
    return done;
  }

  #deduct(intent: Intent): Answer {
    const short = this.#shortage(intent.items);
    if (short) return short;
    for (const { sku_id, qty } of intent.items) this.#move(this.#skuOf(sku_id), -qty, 'by_documents');
    this.#documentOf(intent).deducted = intent.items;
    return done;
  }

  #restore(intent: Intent): Answer {
    for (const { sku_id, qty } of intent.items) this.#move(this.#skuOf(sku_id), qty, 'by_documents');
    this.#documentOf(intent).restored = intent.items;
    return done;
  }

  /** The refusal when a line exceeds the sellable quantity, otherwise null. */
  #shortage(items: readonly Item[]): Answer | null {
    for (const { sku_id, qty } of items) {
      const { on_hand, reserved } = this.#skuOf(sku_id);
      if (on_hand - reserved < qty)
        return { code: codes.insufficient, message: `SKU ${sku_id}: ${on_hand - reserved} sellable, ${qty} asked for` };
    }
    return null;
  }

  #move(sku: SkuRow, change: number, by: 'by_documents' | 'by_sync'): void {
    sku.on_hand += change;
    sku.net_change += change;
    sku[by] += change;
  }

  #skuOf(sku_id: number): SkuRow {
    let sku = this.#skus.get(sku_id);
    if (!sku) {
      sku = { sku_id, on_hand: this.#initialStock, reserved: 0, net_change: 0, by_documents: 0, by_sync: 0 };
      this.#skus.set(sku_id, sku);
    }
    return sku;
  }

  #documentOf({ biz_type, biz_no }: Intent): DocumentRow {
    const key = `${biz_type}:${biz_no}`;
    let document = this.#documents.get(key);
    if (!document) {
      document = { biz_type, biz_no, state: null, items: [], deducted: [], restored: [] };
      this.#documents.set(key, document);
    }
    return document;
  }
}
