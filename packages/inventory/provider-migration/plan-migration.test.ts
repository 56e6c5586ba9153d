import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planMigration } from './plan-migration.ts';

test('stock of SKUs without rows in warehouses arrives in the first warehouse', () => {
  expect(
    planMigration(
      [
        { id: 1, stock: 5 },
        { id: 2, stock: 0 },
      ],
      [],
      [{ biz_no: 'A', sku_id: 1, qty: 2 }],
      7,
    ),
  ).toEqual({
    moves: [{ warehouse_id: 7, doc_type: 'inbound', items: [{ sku_id: 1, qty: 5 }] }],
    placed: [{ biz_no: 'A', sku_id: 1, qty: 2, warehouse_id: 7 }],
  });
});

test('warehouses with more stock than the SKU lose the surplus in their order', () => {
  const existing = [
    { warehouse_id: 1, sku_id: 1, qty: 4, reserved_qty: 0 },
    { warehouse_id: 2, sku_id: 1, qty: 4, reserved_qty: 0 },
  ];
  expect(planMigration([{ id: 1, stock: 3 }], existing, [], 1).moves).toEqual([
    { warehouse_id: 1, doc_type: 'outbound', items: [{ sku_id: 1, qty: 4 }] },
    { warehouse_id: 2, doc_type: 'outbound', items: [{ sku_id: 1, qty: 1 }] },
  ]);
});

test('when no warehouse has enough for a reservation, stock moves to one from the others', () => {
  const existing = [
    { warehouse_id: 1, sku_id: 1, qty: 3, reserved_qty: 0 },
    { warehouse_id: 2, sku_id: 1, qty: 4, reserved_qty: 0 },
  ];
  const plan = planMigration([{ id: 1, stock: 7 }], existing, [{ biz_no: 'A', sku_id: 1, qty: 6 }], 1);
  expect(plan.placed).toEqual([{ biz_no: 'A', sku_id: 1, qty: 6, warehouse_id: 2 }]);
  expect(plan.moves).toEqual([
    { warehouse_id: 1, doc_type: 'outbound', items: [{ sku_id: 1, qty: 2 }] },
    { warehouse_id: 2, doc_type: 'inbound', items: [{ sku_id: 1, qty: 2 }] },
  ]);
});

test('any input: the warehouses have the stock of the SKU, no quantity is negative, every reservation fits in its warehouse', () => {
  const scene = fc.record({
    quantities: fc.array(fc.nat({ max: 9 }), { maxLength: 4 }),
    stock: fc.nat({ max: 40 }),
    demands: fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 8 }),
  });
  fc.assert(
    fc.property(scene, ({ quantities, stock, demands }) => {
      let left = stock;
      const reservations = demands.flatMap((qty, i) => {
        if (qty > left) return [];
        left -= qty;
        return [{ biz_no: `O${i}`, sku_id: 1, qty }];
      });
      const before = quantities.map((qty, i) => ({ warehouse_id: i + 1, sku_id: 1, qty, reserved_qty: 0 }));
      const { moves, placed } = planMigration([{ id: 1, stock }], before, reservations, 1);
      const after = new Map(before.map((row) => [row.warehouse_id, row.qty]));
      for (const move of moves) {
        const sign = move.doc_type === 'inbound' ? 1 : -1;
        for (const item of move.items) {
          expect(item.qty).toBeGreaterThan(0);
          after.set(move.warehouse_id, (after.get(move.warehouse_id) ?? 0) + sign * item.qty);
        }
      }
      expect([...after.values()].reduce((sum, qty) => sum + qty, 0)).toBe(stock);
      expect(placed.map((one) => one.biz_no).sort()).toEqual(reservations.map((one) => one.biz_no).sort());
      for (const one of placed) after.set(one.warehouse_id, after.get(one.warehouse_id)! - one.qty);
      for (const qty of after.values()) expect(qty).toBeGreaterThanOrEqual(0);
    }),
  );
});
