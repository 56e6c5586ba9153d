import type { Action, Pair } from '../race.ts';
import { openPayment, sendNotice, type TestShop } from '../test-shop.ts';
import { cancel, close, expireOrder, type Placed, pay, placeUnpaid, reprice, runExpiry } from './actions.ts';
import { bothWin, openChecks, stateOf, stockAt, stockOf } from './checks.ts';

/** A payment notice against another action on its order. The money settles the order, or it is refunded once. */
function againstNotice(
  name: string,
  other: (testShop: TestShop, of: Placed) => Action,
  options: { expired?: boolean; statusWithoutMoney?: number } = {},
): Pair {
  return {
    name,
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      const notice = await openPayment(testShop.second, of.buyer, of.order_id);
      if (options.expired) await expireOrder(testShop, of.order_id);
      return {
        first: (at) => sendNotice(at, notice),
        second: other(testShop, of),
        async faults([noticed, other]) {
          const checks = openChecks();
          checks.equal('answer to the provider', noticed?.code, 0);
          const state = await stateOf(testShop, of.order_id);
          const [row] = await testShop.sql<{ status: string }[]>`
            select status from orders.payments where payment_no = ${notice.payment_no}`;
          const settled = row!.status === 'succeeded';
          checks.equal('status in the answer to the provider', noticed?.data?.status, row!.status);
          checks.equal('refunds', state.refunds, settled ? 0 : 1);
          checks.equal('status', state.status, settled ? 2 : (options.statusWithoutMoney ?? 6));
          checks.equal('stock', await stockOf(testShop, of.sku), stockAt[state.status]);
          if (other) checks.equal('only one action changed the order', other.code === 0, !settled);
          return checks.faults;
        },
      };
    },
  };
}

export const paymentPairs: readonly Pair[] = [
  againstNotice('payment notice and the buyer pays', (_shop, of) => pay(of), { statusWithoutMoney: 2 }),
  againstNotice('payment notice and the buyer cancels', (_shop, of) => cancel(of)),
  againstNotice('payment notice and the merchant closes', (testShop, of) => close(testShop, of)),
  againstNotice('late payment notice and the order expires', () => runExpiry, { expired: true }),
  againstNotice('payment notice and the price changes', (testShop, of) => reprice(testShop, of), {
    statusWithoutMoney: 1,
  }),
  {
    name: 'the same payment notice twice',
    bothWays: false,
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      const notice = await openPayment(testShop.second, of.buyer, of.order_id);
      return {
        first: (at) => sendNotice(at, notice),
        second: (at) => sendNotice(at, notice),
        async faults(answers) {
          const checks = bothWin(answers);
          const { status, paid, refunds, moves } = await stateOf(testShop, of.order_id);
          checks.equal('order', { status, paid, refunds, moves }, { status: 2, paid: 1, refunds: 0, moves: 2 });
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'a payment is opened and the order cancelled',
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      const { token } = of.buyer;
      return {
        first: (at) =>
          at.call('POST', '/api/pay/create', { token, body: { order_id: of.order_id, provider: 'sandbox' } }),
        second: cancel(of),
        async faults(answers) {
          const checks = openChecks();
          checks.equal('the cancellation', answers[1]?.code, 0);
          checks.equal('status', (await stateOf(testShop, of.order_id)).status, 6);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'one refund run twice',
    bothWays: false,
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      const notice = await openPayment(testShop.second, of.buyer, of.order_id);
      await cancel(of)(testShop.second);
      await sendNotice(testShop.second, notice);
      const [refund] = await testShop.sql<{ refund_no: string }[]>`
        select refund_no from orders.refunds where order_id = ${of.order_id}`;
      const run: Action = async (at) => {
        await at.job('payments.refund', { refund_no: refund!.refund_no });
        return undefined;
      };
      return {
        first: run,
        second: run,
        async faults() {
          const checks = openChecks();
          const rows = await testShop.sql`
            select r.status, p.status as payment from orders.refunds r join orders.payments p on p.id = r.payment_id
            where r.order_id = ${of.order_id}`;
          checks.equal('refunds', rows, [{ status: 'succeeded', payment: 'refunded' }]);
          return checks.faults;
        },
      };
    },
  },
];
