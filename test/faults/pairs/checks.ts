import type { Answer } from '@tradepost/testing/client';
import type { TestShop } from '../test-shop.ts';

export type Answers = [Answer | undefined, Answer | undefined];
export const codes = (answers: Answers) => answers.map((answer) => answer?.code ?? null);

/** Compares values and collects the differences as texts. */
export function openChecks() {
  const faults: string[] = [];
  return {
    faults,
    isTrue(holds: boolean, fault: string) {
      if (!holds) faults.push(fault);
    },
    equal(what: string, found: unknown, expected: unknown) {
      const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
      if (a !== b) faults.push(`${what}: ${a} instead of ${b}`);
    },
  };
}

const winners = (answers: Answers) => answers.filter((answer) => answer?.code === 0).length;
export const oneWins = (answers: Answers) => {
  const checks = openChecks();
  checks.equal(`winners (answers ${codes(answers)})`, winners(answers), 1);
  return checks;
};
export const bothWin = (answers: Answers) => {
  const checks = openChecks();
  checks.equal('answers', codes(answers), [0, 0]);
  return checks;
};

export async function stateOf({ sql }: TestShop, orderId: number) {
  const [row] = await sql<{ status: number; total: number; moves: number; paid: number; refunds: number }[]>`
    select o.status, o.total_amount as total,
      (select count(*)::int from orders.order_history h where h.order_id = o.id) as moves,
      (select count(*)::int from orders.payments p where p.order_id = o.id and p.status = 'succeeded'
         and p.amount = o.total_amount) as paid,
      (select count(*)::int from orders.refunds r where r.order_id = o.id) as refunds
    from orders.orders o where o.id = ${orderId}`;
  return row!;
}
export async function stockOf({ sql }: TestShop, sku: number) {
  const [row] = await sql<{ stock: number; reserved: number; sold: number }[]>`
    select stock, reserved_stock as reserved, sold from catalog.product_skus where id = ${sku}`;
  return { ...row! };
}

/** Stock of the only SKU, by the status of its order. */
export const stockAt: Record<number, { stock: number; reserved: number; sold: number }> = {
  1: { stock: 10, reserved: 1, sold: 0 },
  2: { stock: 9, reserved: 0, sold: 1 },
  6: { stock: 10, reserved: 0, sold: 0 },
};
