import type { Action, Pair } from '../race.ts';
import { payOrCancel, type TestShop } from '../test-shop.ts';
import { type Placed, placeUnpaid, staffCall } from './actions.ts';
import { codes, oneWins, openChecks, stateOf } from './checks.ts';

type Sold = Placed & { item: number };

/** A paid order of one piece that is not shipped. */
async function placePaid(testShop: TestShop): Promise<Sold> {
  const of = await placeUnpaid(testShop);
  const { code, message } = await payOrCancel(testShop.second, 'pay', of.buyer, of.order_id);
  if (code !== 0) throw new Error(message);
  const [row] = await testShop.sql<{ id: number }[]>`select id from orders.order_items where order_id = ${of.order_id}`;
  return { ...of, item: row!.id };
}

const apply =
  ({ buyer, order_id, item }: Sold): Action =>
  (at) =>
    at.call('POST', `/api/v1/orders/${order_id}/after-sales`, {
      token: buyer.token,
      body: { case_type: 'return', reason: 'Broken', items: [{ order_item_id: item, qty: 1 }] },
    });
const onCase = (testShop: TestShop, id: number, action: string, body: object = {}): Action =>
  staffCall(testShop, 'POST', `/admin/api/after-sales/${id}/${action}`, body);
const ship = (testShop: TestShop, { order_id }: Sold): Action =>
  staffCall(testShop, 'PUT', `/admin/api/orders/${order_id}/ship`, { company: 'SF', tracking_no: `SF${order_id}` });

/** A case of a paid order that was applied for, or whose goods have come back. */
async function openCase(testShop: TestShop, state: 'applied' | 'refund_pending'): Promise<Sold & { case_id: number }> {
  const of = await placePaid(testShop);
  const done = async (action: Action) => {
    const answer = await action(testShop.second);
    if (answer?.code !== 0) throw new Error(answer?.message);
    return answer.data;
  };
  const { id: case_id } = await done(apply(of));
  if (state === 'refund_pending') {
    await done(onCase(testShop, case_id, 'audit', { approve: true }));
    await done((at) =>
      at.call('POST', `/api/v1/after-sales/${case_id}/return-shipments`, {
        token: of.buyer.token,
        body: { company: '', tracking_no: `B${case_id}` },
      }),
    );
    await done(onCase(testShop, case_id, 'receive'));
  }
  return { ...of, case_id };
}

async function countsOf({ sql }: TestShop, { order_id }: Sold) {
  const [row] = await sql<{ cases: number; shipments: number; refunded: number }[]>`
    select (select count(*)::int from fulfilment.after_sale_cases where order_id = ${order_id}) as cases,
           (select count(*)::int from fulfilment.shipments where order_id = ${order_id} and biz_type = 'initial') as shipments,
           (select coalesce(sum(amount), 0)::int from orders.refunds where order_id = ${order_id}) as refunded`;
  return row!;
}

export const afterSalePairs: readonly Pair[] = [
  {
    name: 'an order is shipped and an after-sale is applied for',
    async setUp(testShop) {
      const of = await placePaid(testShop);
      return {
        first: ship(testShop, of),
        second: apply(of),
        async faults(answers) {
          const checks = openChecks();
          const [shipped, applied] = codes(answers);
          checks.equal('answer to the shopper', applied, 0);
          checks.isTrue(shipped === 0 || shipped === 500, `answer to staff: ${shipped}`);
          const { status, moves } = await stateOf(testShop, of.order_id);
          checks.equal('order', { status, moves }, { status: 5, moves: shipped === 0 ? 4 : 3 });
          const { cases, shipments } = await countsOf(testShop, of);
          checks.equal('rows', { cases, shipments }, { cases: 1, shipments: shipped === 0 ? 1 : 0 });
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'two after-sales of one order line',
    bothWays: false,
    async setUp(testShop) {
      const of = await placePaid(testShop);
      return {
        first: apply(of),
        second: apply(of),
        async faults(answers) {
          const checks = oneWins(answers);
          const { status, moves } = await stateOf(testShop, of.order_id);
          checks.equal('order', { status, moves }, { status: 5, moves: 3 });
          checks.equal('cases', (await countsOf(testShop, of)).cases, 1);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'one after-sale is approved and rejected',
    async setUp(testShop) {
      const of = await openCase(testShop, 'applied');
      return {
        first: onCase(testShop, of.case_id, 'audit', { approve: true }),
        second: onCase(testShop, of.case_id, 'audit', { approve: false }),
        async faults(answers) {
          const checks = oneWins(answers);
          const { status } = await stateOf(testShop, of.order_id);
          checks.equal('status of the order', status, answers[0]?.code === 0 ? 5 : 2);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'one after-sale is refunded twice',
    bothWays: false,
    async setUp(testShop) {
      const of = await openCase(testShop, 'refund_pending');
      const refund = onCase(testShop, of.case_id, 'refund', { amount: 0, reason: 'as agreed' });
      return {
        first: refund,
        second: refund,
        async faults(answers) {
          const checks = oneWins(answers);
          const { total } = await stateOf(testShop, of.order_id);
          checks.equal('refunded', (await countsOf(testShop, of)).refunded, total);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'one after-sale is refunded and closed',
    async setUp(testShop) {
      const of = await openCase(testShop, 'refund_pending');
      return {
        first: onCase(testShop, of.case_id, 'refund', { amount: 0, reason: 'as agreed' }),
        second: onCase(testShop, of.case_id, 'close', { reason: 'Withdrawn' }),
        async faults(answers) {
          const checks = oneWins(answers);
          const refunded = answers[0]?.code === 0;
          const { status, total } = await stateOf(testShop, of.order_id);
          checks.equal('status of the order', status, refunded ? 5 : 2);
          checks.equal('refunded', (await countsOf(testShop, of)).refunded, refunded ? total : 0);
          return checks.faults;
        },
      };
    },
  },
];
