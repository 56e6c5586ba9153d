import type { Answer } from '@tradepost/testing/client';
import type { Stage } from '../stage.ts';

export type Answers = [Answer | undefined, Answer | undefined];
export const codes = (answers: Answers) => answers.map((answer) => answer?.code ?? null);

/** Collects what is not as it should be, in words. */
export function expecting() {
  const faults: string[] = [];
  return {
    faults,
    that(holds: boolean, otherwise: string) {
      if (!holds) faults.push(otherwise);
    },
    same(what: string, found: unknown, wanted: unknown) {
      const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
      if (a !== b) faults.push(`${what}: ${a} instead of ${b}`);
    },
  };
}

export const winners = (answers: Answers) => answers.filter((answer) => answer?.code === 0).length;
export const oneWins = (answers: Answers) => {
  const should = expecting();
  should.same(`winners (answers ${codes(answers)})`, winners(answers), 1);
  return should;
};
export const bothWin = (answers: Answers) => {
  const should = expecting();
  should.same('answers', codes(answers), [0, 0]);
  return should;
};

export async function stateOf({ sql }: Stage, orderId: number) {
  const [row] = await sql<{ status: number; total: number; moves: number; paid: number; back: number }[]>`
    select o.status, o.total_amount as total,
      (select count(*)::int from orders.order_history h where h.order_id = o.id) as moves,
      (select count(*)::int from orders.payments p where p.order_id = o.id and p.status = 'succeeded'
         and p.amount = o.total_amount) as paid,
      (select count(*)::int from orders.refunds r where r.order_id = o.id) as back
    from orders.orders o where o.id = ${orderId}`;
  return row!;
}
export async function stockOf({ sql }: Stage, sku: number) {
  const [row] = await sql<{ stock: number; reserved: number; sold: number }[]>`
    select stock, reserved_stock as reserved, sold from catalog.product_skus where id = ${sku}`;
  return { ...row! };
}

export const stockAt: Record<number, { stock: number; reserved: number; sold: number }> = {
  1: { stock: 10, reserved: 1, sold: 0 },
  2: { stock: 9, reserved: 0, sold: 1 },
  6: { stock: 10, reserved: 0, sold: 0 },
};
