import { describe, expect, test } from 'vitest';
import { type Moving, maxQuantity, planMoves } from './stock-moves.ts';

let numbers = 0;
function document(doc_type: 'inbound' | 'outbound', items: [number, number][], more: Partial<Moving> = {}): Moving {
  numbers += 1;
  return {
    ...{ doc_id: numbers, doc_no: `D${numbers}`, doc_type, warehouse_id: 1, summed: true },
    items: items.map(([sku_id, qty]) => ({ sku_id, qty })),
    ...more,
  };
}
const skus = [7, 8].map((id) => ({ id, title: `Mug ${id}`, stock: 100 }));
const level = (sku_id: number, qty: number, reserved_qty = 0, warehouse_id = 1) => ({
  ...{ warehouse_id, sku_id, qty, reserved_qty },
});

describe('documents are decided in their order on the same stock', () => {
  test('a document reads the quantities that the document before it leaves', () => {
    const out = document('outbound', [[7, 4]]);
    const { outcomes, moves } = planMoves(
      [out, document('outbound', [[7, 4]]), document('inbound', [[7, 2]]), document('outbound', [[7, 3]])],
      skus,
      [level(7, 5)],
    );
    expect(outcomes.map((outcome) => outcome?.code ?? 0)).toEqual([0, 409, 0, 0]);
    expect(moves.levels).toEqual([{ warehouse_id: 1, sku_id: 7, qty: 0 }]);
    expect([...moves.sums]).toEqual([[7, -5]]);
    expect(moves.movements.map((move) => [move.change_qty, move.before_qty, move.after_qty])).toEqual([
      [-4, 5, 1],
      [2, 1, 3],
      [-3, 3, 0],
    ]);
    expect(moves.movements[0]).toMatchObject({ doc_id: out.doc_id, doc_no: out.doc_no, biz_type: 'outbound' });
  });

  test('a refused document moves nothing, also not the items before the refused one', () => {
    const both = [7, 8].map((sku): [number, number] => [sku, sku - 6]);
    const { outcomes, moves } = planMoves([document('outbound', both)], skus, [level(7, 5), level(8, 3, 2)]);
    expect(outcomes[0]?.message).toContain('Mug 8 (SKU 8): 2 to take, but only 1 free: 3 on hand, 2 reserved');
    expect(moves).toEqual({ levels: [], sums: new Map(), movements: [] });
  });

  test('a SKU in several items is summed for the decision', () => {
    const twice = [2, 2].map((qty): [number, number] => [7, qty]);
    const outcomeWith = (free: number) => planMoves([document('outbound', twice)], skus, [level(7, free)]);
    expect(outcomeWith(3).outcomes[0]?.code).toBe(409);
    expect(outcomeWith(4).outcomes[0]).toBeNull();
  });

  test('the stock of another warehouse cannot leave', () => {
    expect(planMoves([document('outbound', [[7, 1]])], skus, [level(7, 5, 0, 2)]).outcomes[0]?.code).toBe(409);
  });

  test('a warehouse outside the sums changes only its own stock', () => {
    const { outcomes, moves } = planMoves([document('inbound', [[7, 5]], { summed: false })], skus, []);
    expect(outcomes).toEqual([null]);
    expect(moves.levels).toEqual([{ warehouse_id: 1, sku_id: 7, qty: 5 }]);
    expect(moves.sums.size).toBe(0);
  });

  test('quantities stay in the range of their columns: warehouse, sum, and several documents', () => {
    const fits = document('inbound', [[7, maxQuantity - 100]]);
    const { outcomes } = planMoves([fits, document('inbound', [[7, 1]])], skus, []);
    expect(outcomes.map((outcome) => outcome?.code ?? 0)).toEqual([0, 409]);
    const beyond = document('inbound', [[7, maxQuantity - 99]]);
    expect(planMoves([beyond], skus, []).outcomes[0]?.code).toBe(409);
    expect(planMoves([{ ...beyond, summed: false }], skus, []).outcomes[0]).toBeNull();
    expect(planMoves([{ ...beyond, summed: false }], skus, [level(7, 100)]).outcomes[0]?.code).toBe(409);
  });
});
