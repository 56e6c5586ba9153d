import type { Doing, Pair } from '../race.ts';
import { openMoney, type Stage, tell } from '../stage.ts';
import { cancel, close, expire, type Placed, pay, placed, reprice, runOut } from './actions.ts';
import { bothWin, expecting, stateOf, stockAt, stockOf } from './checks.ts';

/** Money that comes in while something else happens to its order: it settles the order, or goes back once. */
function againstMoney(
  name: string,
  other: (stage: Stage, of: Placed) => Doing,
  options: { expired?: boolean; lost?: number } = {},
): Pair {
  return {
    name,
    async setUp(stage) {
      const of = await placed(stage);
      const money = await openMoney(stage.second, of.buyer, of.order_id);
      if (options.expired) await runOut(stage, of.order_id);
      return {
        first: (at) => tell(at, money),
        second: other(stage, of),
        async faults([told, acted]) {
          const should = expecting();
          should.same('answer to the gateway', told?.code, 0);
          const state = await stateOf(stage, of.order_id);
          const [row] = await stage.sql<{ status: string }[]>`
            select status from orders.payments where payment_no = ${money.payment_no}`;
          const settled = row!.status === 'succeeded';
          should.same('what the gateway was told', told?.data?.status, row!.status);
          should.same('refunds', state.back, settled ? 0 : 1);
          should.same('status', state.status, settled ? 2 : (options.lost ?? 6));
          should.same('stock', await stockOf(stage, of.sku), stockAt[state.status]);
          if (acted) should.same('both took the order', acted.code === 0, !settled);
          return should.faults;
        },
      };
    },
  };
}

export const paymentPairs: readonly Pair[] = [
  againstMoney('money comes in and the buyer pays', (_stage, of) => pay(of), { lost: 2 }),
  againstMoney('money comes in and the buyer cancels', (_stage, of) => cancel(of)),
  againstMoney('money comes in and the merchant closes', (stage, of) => close(stage, of)),
  againstMoney('money comes in late and the order runs out', () => expire, { expired: true }),
  againstMoney('money comes in and the price changes', (stage, of) => reprice(stage, of), { lost: 1 }),
  {
    name: 'one notice of money twice',
    bothWays: false,
    async setUp(stage) {
      const of = await placed(stage);
      const money = await openMoney(stage.second, of.buyer, of.order_id);
      return {
        first: (at) => tell(at, money),
        second: (at) => tell(at, money),
        async faults(answers) {
          const should = bothWin(answers);
          const { status, paid, back, moves } = await stateOf(stage, of.order_id);
          should.same('order', { status, paid, back, moves }, { status: 2, paid: 1, back: 0, moves: 2 });
          return should.faults;
        },
      };
    },
  },
  {
    name: 'a payment is opened and the order cancelled',
    async setUp(stage) {
      const of = await placed(stage);
      const { token } = of.buyer;
      return {
        first: (at) =>
          at.call('POST', '/api/pay/create', { token, body: { order_id: of.order_id, provider: 'sandbox' } }),
        second: cancel(of),
        async faults(answers) {
          const should = expecting();
          should.same('the cancelling', answers[1]?.code, 0);
          should.same('status', (await stateOf(stage, of.order_id)).status, 6);
          return should.faults;
        },
      };
    },
  },
  {
    name: 'one refund run twice',
    bothWays: false,
    async setUp(stage) {
      const of = await placed(stage);
      const money = await openMoney(stage.second, of.buyer, of.order_id);
      await cancel(of)(stage.second);
      await tell(stage.second, money);
      const [refund] = await stage.sql<{ refund_no: string }[]>`
        select refund_no from orders.refunds where order_id = ${of.order_id}`;
      const run: Doing = async (at) => {
        await at.job('payments.refund', { refund_no: refund!.refund_no });
        return undefined;
      };
      return {
        first: run,
        second: run,
        async faults() {
          const should = expecting();
          const rows = await stage.sql`
            select r.status, p.status as payment from orders.refunds r join orders.payments p on p.id = r.payment_id
            where r.order_id = ${of.order_id}`;
          should.same('refunds', rows, [{ status: 'succeeded', payment: 'refunded' }]);
          return should.faults;
        },
      };
    },
  },
];
