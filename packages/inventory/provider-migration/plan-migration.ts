type WarehouseStock = { warehouse_id: number; sku_id: number; qty: number; reserved_qty: number };
type Reservation = { biz_no: string; sku_id: number; qty: number };
export type Placed = Reservation & { warehouse_id: number };
export type Move = { warehouse_id: number; doc_type: 'inbound' | 'outbound'; items: { sku_id: number; qty: number }[] };

/**
 * Plans the migration of stock from SKUs into warehouses.
 *
 * - `moves`: changes of stock. Afterwards the sum over the warehouses equals the stock of each SKU. Missing stock
 *   arrives in the first warehouse. Surplus stock leaves the warehouses in their order.
 * - `placed`: every open reservation gets one warehouse that has all of it. When no warehouse has enough, stock moves there
 *   from other warehouses.
 *
 * `existing` is the stock in enabled warehouses, in their order. Its reserved quantities stay where they are.
 */
export function planMigration(
  skus: readonly { id: number; stock: number }[],
  existing: readonly WarehouseStock[],
  reservations: readonly Reservation[],
  firstWarehouse: number,
): { moves: Move[]; placed: Placed[] } {
  const before = new Map(skus.map((sku) => [sku.id, new Map<number, number>()]));
  for (const { sku_id, warehouse_id, qty } of existing) before.get(sku_id)?.set(warehouse_id, qty);
  const after = new Map([...before].map(([sku, at]) => [sku, new Map(at)]));
  const reserved = new Map(existing.map((row) => [`${row.sku_id} ${row.warehouse_id}`, row.reserved_qty]));
  const reservedAt = (sku: number, warehouse: number) => reserved.get(`${sku} ${warehouse}`) ?? 0;

  for (const { id, stock } of skus) {
    const at = after.get(id)!;
    let gap = stock - [...at.values()].reduce((sum, qty) => sum + qty, 0);
    if (gap > 0) at.set(firstWarehouse, (at.get(firstWarehouse) ?? 0) + gap);
    for (const [warehouse, qty] of at) {
      if (gap >= 0) break;
      const out = Math.min(qty - reservedAt(id, warehouse), -gap);
      at.set(warehouse, qty - out);
      gap += out;
    }
  }

  const free = new Map(
    [...after].map(([sku, at]) => [sku, new Map([...at].map(([w, qty]) => [w, qty - reservedAt(sku, w)] as const))]),
  );
  const placed: Placed[] = [];
  // Large reservations first: the smaller ones then fit into what is left.
  for (const order of [...reservations].sort((a, b) => b.qty - a.qty)) {
    const at = free.get(order.sku_id);
    if (!at || at.size === 0)
      throw new Error(`reserved stock of SKU ${order.sku_id} is in no warehouse: see tradepost audit`);
    let home = [...at].find(([, qty]) => qty >= order.qty)?.[0];
    if (home === undefined) {
      home = [...at].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
      for (const [warehouse, qty] of at) {
        const missing = order.qty - at.get(home)!;
        if (missing <= 0) break;
        if (warehouse === home) continue;
        const moved = Math.min(qty, missing);
        for (const quantities of [at, after.get(order.sku_id)!]) {
          quantities.set(warehouse, quantities.get(warehouse)! - moved);
          quantities.set(home, quantities.get(home)! + moved);
        }
      }
    }
    if (at.get(home)! < order.qty)
      throw new Error(`SKU ${order.sku_id} has more reserved stock than stock: see tradepost audit`);
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
