import type { Doing, Pair } from '../race.ts';
import { keyed, order, type Stage } from '../stage.ts';
import { cancel, close, expire, newPrice, type Placed, pay, placed, reprice, runOut, staffCall } from './actions.ts';
import { bothWin, expecting, oneWins, stateOf, stockAt, stockOf } from './checks.ts';

/** One order; both acts move it, and one of them may. `status`: where each of them leads. */
function oneOrder(
  name: string,
  acts: (stage: Stage, of: Placed) => [Doing, Doing] | Promise<[Doing, Doing]>,
  status: [number, number],
): Pair {
  return {
    name,
    async setUp(stage) {
      const of = await placed(stage);
      const [first, second] = await acts(stage, of);
      return {
        first,
        second,
        async faults(answers) {
          const should = oneWins(answers);
          const to = status[answers[0]?.code === 0 ? 0 : 1];
          const state = await stateOf(stage, of.order_id);
          should.same('status', state.status, to);
          should.same('moves in the history', state.moves, 2);
          should.same('stock', await stockOf(stage, of.sku), stockAt[to]);
          return should.faults;
        },
      };
    },
  };
}
/** Something that moves the order against the job that cancels what nobody paid. */
function againstExpiry(name: string, other: (of: Placed) => Doing, to: number): Pair {
  return {
    name,
    async setUp(stage) {
      const of = await placed(stage);
      await runOut(stage, of.order_id);
      return {
        first: other(of),
        second: expire,
        async faults([answer]) {
          const should = expecting();
          const state = await stateOf(stage, of.order_id);
          should.same('status', state.status, answer?.code === 0 ? to : 6);
          should.same('moves in the history', state.moves, 2);
          should.same('stock', await stockOf(stage, of.sku), stockAt[state.status]);
          return should.faults;
        },
      };
    },
  };
}

export const orderPairs: readonly Pair[] = [
  {
    name: 'two buyers of the last piece',
    bothWays: false,
    async setUp(stage) {
      const [one, two] = await stage.buyers(2);
      const { sku_ids } = await stage.goods({ stocks: [1] });
      return {
        first: (at) => order(at, one!, sku_ids),
        second: (at) => order(at, two!, sku_ids),
        async faults(answers) {
          const should = oneWins(answers);
          should.same('stock', await stockOf(stage, sku_ids[0]!), { stock: 1, reserved: 1, sold: 0 });
          return should.faults;
        },
      };
    },
  },
  {
    name: 'one cart ordered twice',
    bothWays: false,
    async setUp(stage) {
      const [buyer] = await stage.buyers(1);
      const { sku_ids } = await stage.goods({ stocks: [10] });
      const { token, address_id } = buyer!;
      await stage.second.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[0], qty: 2 } });
      const all: Doing = (at) => at.call('POST', '/api/v1/orders', { token, body: { address_id } });
      return {
        first: all,
        second: all,
        async faults(answers) {
          const should = oneWins(answers);
          should.same('stock', await stockOf(stage, sku_ids[0]!), { stock: 10, reserved: 2, sold: 0 });
          return should.faults;
        },
      };
    },
  },
  {
    name: 'a cart is ordered and added to',
    async setUp(stage) {
      const [buyer] = await stage.buyers(1);
      const { sku_ids } = await stage.goods({ stocks: [10] });
      const { token, address_id, id } = buyer!;
      const add: Doing = (at) => at.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[0] } });
      await add(stage.second);
      return {
        first: (at) => at.call('POST', '/api/v1/orders', { token, body: { address_id } }),
        second: add,
        async faults(answers) {
          const should = bothWin(answers);
          const [row] = await stage.sql<{ n: number }[]>`
            select coalesce((select sum(qty) from orders.cart_lines where user_id = ${id}), 0)
              + coalesce((select sum(i.qty) from orders.order_items i join orders.orders o on o.id = i.order_id
                          where o.user_id = ${id}), 0) as n`;
          should.same('pieces in cart and order', Number(row!.n), 2);
          return should.faults;
        },
      };
    },
  },
  {
    name: 'two orders of the same pair of goods in opposite order',
    bothWays: false,
    async setUp(stage) {
      const [one, two] = await stage.buyers(2);
      const { sku_ids } = await stage.goods({ stocks: [5, 5] });
      return {
        first: (at) => order(at, one!, sku_ids),
        second: (at) => order(at, two!, [...sku_ids].reverse()),
        faults: async (answers) => bothWin(answers).faults,
      };
    },
  },
  oneOrder('pay and pay', (_stage, of) => [pay(of), pay(of)], [2, 2]),
  oneOrder('cancel and cancel', (_stage, of) => [cancel(of), cancel(of)], [6, 6]),
  oneOrder('pay and cancel', (_stage, of) => [pay(of), cancel(of)], [2, 6]),
  oneOrder('close and pay', (stage, of) => [close(stage, of), pay(of)], [6, 2]),
  oneOrder('close and cancel', (stage, of) => [close(stage, of), cancel(of)], [6, 6]),
  againstExpiry('pay and run out', pay, 2),
  againstExpiry('cancel and run out', cancel, 6),
  {
    name: 'the price changes and the buyer pays',
    async setUp(stage) {
      const of = await placed(stage);
      return {
        first: reprice(stage, of),
        second: pay(of),
        async faults([changed, payed]) {
          const should = expecting();
          should.same('the payment', payed?.code, 0);
          const { status, total, paid } = await stateOf(stage, of.order_id);
          should.same('order', { status, paid }, { status: 2, paid: 1 });
          should.same('amount', total, changed?.code === 0 ? newPrice * 100 : 1290);
          return should.faults;
        },
      };
    },
  },
  {
    name: 'one order shipped twice',
    bothWays: false,
    async setUp(stage) {
      const of = await placed(stage);
      await pay(of)(stage.second);
      const ship = (tracking_no: string) =>
        staffCall(stage, 'PUT', `/admin/api/orders/${of.order_id}/ship`, { company: 'SF', tracking_no });
      return {
        first: ship('SF1'),
        second: ship('SF2'),
        async faults(answers) {
          const should = oneWins(answers);
          const [row] = await stage.sql<{ n: number }[]>`
            select count(*)::int as n from fulfilment.shipments where order_id = ${of.order_id}`;
          should.same('shipments', row!.n, 1);
          should.same('status', (await stateOf(stage, of.order_id)).status, 3);
          return should.faults;
        },
      };
    },
  },
  {
    name: 'one Idempotency-Key on two instances',
    bothWays: false,
    patienceMs: 60,
    async setUp(stage) {
      const [buyer] = await stage.buyers(1);
      const { sku_ids } = await stage.goods();
      const key = keyed();
      const place: Doing = (at) => order(at, buyer!, sku_ids, key);
      return {
        first: place,
        second: place,
        async faults(answers) {
          const should = bothWin(answers);
          should.same('the second answer', answers[1]?.body, answers[0]?.body);
          const [row] = await stage.sql<{ n: number }[]>`
            select count(*)::int as n from orders.orders where user_id = ${buyer!.id}`;
          should.same('orders', row!.n, 1);
          return should.faults;
        },
      };
    },
  },
];
