type Shelf = { warehouse_id: number; sku_id: number; qty: number; reserved_qty: number };
type Held = { biz_no: string; sku_id: number; qty: number };
export type Placed = Held & { warehouse_id: number };
export type Move = { warehouse_id: number; doc_type: 'inbound' | 'outbound'; items: { sku_id: number; qty: number }[] };

/**
 * How the stock that SKUs have kept themselves goes into warehouses: `moves` make each SKU's shelves add up to its stock
 * (what is missing comes in at the first warehouse, what is too much goes out from the first ones on), and every open
 * reservation gets one warehouse that holds it whole, moving pieces between warehouses where none does.
 * `shelves` are those of enabled warehouses in their order; what is reserved on them already stays where it is.
 */
export function planMigration(
  skus: readonly { id: number; stock: number }[],
  shelves: readonly Shelf[],
  held: readonly Held[],
  firstWarehouse: number,
): { moves: Move[]; placed: Placed[] } {
  const before = new Map(skus.map((sku) => [sku.id, new Map<number, number>()]));
  for (const shelf of shelves) before.get(shelf.sku_id)?.set(shelf.warehouse_id, shelf.qty);
  const after = new Map([...before].map(([sku, at]) => [sku, new Map(at)]));
  const taken = new Map(shelves.map((shelf) => [`${shelf.sku_id} ${shelf.warehouse_id}`, shelf.reserved_qty]));
  const takenAt = (sku: number, warehouse: number) => taken.get(`${sku} ${warehouse}`) ?? 0;

  for (const { id, stock } of skus) {
    const at = after.get(id)!;
    let gap = stock - [...at.values()].reduce((sum, qty) => sum + qty, 0);
    if (gap > 0) at.set(firstWarehouse, (at.get(firstWarehouse) ?? 0) + gap);
    for (const [warehouse, qty] of at) {
      if (gap >= 0) break;
      const out = Math.min(qty - takenAt(id, warehouse), -gap);
      at.set(warehouse, qty - out);
      gap += out;
    }
  }

  const free = new Map(
    [...after].map(([sku, at]) => [sku, new Map([...at].map(([w, qty]) => [w, qty - takenAt(sku, w)] as const))]),
  );
  const placed: Placed[] = [];
  // The large ones first: what is left over then fits into more places.
  for (const order of [...held].sort((a, b) => b.qty - a.qty)) {
    const at = free.get(order.sku_id);
    if (!at || at.size === 0)
      throw new Error(`reserved stock of SKU ${order.sku_id} is on no shelf: see tradepost audit`);
    let home = [...at].find(([, qty]) => qty >= order.qty)?.[0];
    if (home === undefined) {
      home = [...at].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
      for (const [warehouse, qty] of at) {
        const missing = order.qty - at.get(home)!;
        if (missing <= 0) break;
        if (warehouse === home) continue;
        const moved = Math.min(qty, missing);
        for (const book of [at, after.get(order.sku_id)!]) {
          book.set(warehouse, book.get(warehouse)! - moved);
          book.set(home, book.get(home)! + moved);
        }
      }
    }
    if (at.get(home)! < order.qty)
      throw new Error(`more of SKU ${order.sku_id} is reserved than there is: see tradepost audit`);
    at.set(home, at.get(home)! - order.qty);
    placed.push({ ...order, warehouse_id: home });
  }

  const moves = new Map<string, Move>();
  for (const [sku_id, at] of after)
    for (const [warehouse_id, qty] of at) {
      const change = qty - (before.get(sku_id)!.get(warehouse_id) ?? 0);
      if (change === 0) continue;
      const doc_type = change > 0 ? 'inbound' : 'outbound';
      const key = `${doc_type} ${warehouse_id}`;
      const move = moves.get(key) ?? { warehouse_id, doc_type, items: [] };
      moves.set(key, move);
      move.items.push({ sku_id, qty: Math.abs(change) });
    }
  return { moves: [...moves.values()], placed };
}
