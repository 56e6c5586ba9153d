import type { WarehouseStock } from './builtin-store.ts';

/** `free`: the quantity that later demands of the same transaction can still take. */
export type Candidate = WarehouseStock & { free: number };

/**
 * Chooses a warehouse for each SKU of a demand: the first warehouse that has enough of all SKUs, else for each SKU the first
 * warehouse that has enough of it. `missing` is a SKU that no warehouse has enough of. `candidates` are in order of preference.
 */
export function pickWarehouses(
  demand: ReadonlyMap<number, number>,
  candidates: ReadonlyMap<number, readonly Candidate[]>,
): { picked: Map<number, Candidate> } | { missing: number } {
  const bySku = new Map<number, Candidate[]>();
  for (const [sku_id, qty] of demand) {
    const sufficient = (candidates.get(sku_id) ?? []).filter((candidate) => candidate.free >= qty);
    if (sufficient.length === 0) return { missing: sku_id };
    bySku.set(sku_id, sufficient);
  }
  const [first = []] = bySku.values();
  const common = first.find(({ warehouse_id }) =>
    [...bySku.values()].every((sufficient) => sufficient.some((one) => one.warehouse_id === warehouse_id)),
  );
  const picked = new Map<number, Candidate>();
  for (const [sku_id, sufficient] of bySku)
    picked.set(
      sku_id,
      (common && sufficient.find((one) => one.warehouse_id === common.warehouse_id)) ?? sufficient[0]!,
    );
  return { picked };
}

/** The warehouses that have each SKU, in the order of `stock`. */
export function candidatesBySku(stock: readonly WarehouseStock[]): Map<number, Candidate[]> {
  const candidates = new Map<number, Candidate[]>();
  for (const row of stock) {
    const candidate = { ...row, free: row.qty - row.reserved_qty };
    const others = candidates.get(row.sku_id);
    if (others) others.push(candidate);
    else candidates.set(row.sku_id, [candidate]);
  }
  return candidates;
}
