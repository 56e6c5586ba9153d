import type { Action, Pair } from '../race.ts';
import { keyed, order, type TestShop } from '../test-shop.ts';
import {
  cancel,
  close,
  expireOrder,
  newPrice,
  type Placed,
  pay,
  placeUnpaid,
  reprice,
  runExpiry,
  staffCall,
} from './actions.ts';
import { bothWin, oneWins, openChecks, stateOf, stockAt, stockOf } from './checks.ts';

/** Two actions that change the same order; exactly one succeeds. `status` is the order status after each action. */
function oneOrder(
  name: string,
  acts: (testShop: TestShop, of: Placed) => [Action, Action] | Promise<[Action, Action]>,
  status: [number, number],
): Pair {
  return {
    name,
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      const [first, second] = await acts(testShop, of);
      return {
        first,
        second,
        async faults(answers) {
          const checks = oneWins(answers);
          const to = status[answers[0]?.code === 0 ? 0 : 1];
          const state = await stateOf(testShop, of.order_id);
          checks.equal('status', state.status, to);
          checks.equal('moves in the history', state.moves, 2);
          checks.equal('stock', await stockOf(testShop, of.sku), stockAt[to]);
          return checks.faults;
        },
      };
    },
  };
}
/** An action against the job that cancels unpaid orders. */
function againstExpiry(name: string, other: (of: Placed) => Action, to: number): Pair {
  return {
    name,
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      await expireOrder(testShop, of.order_id);
      return {
        first: other(of),
        second: runExpiry,
        async faults([answer]) {
          const checks = openChecks();
          const state = await stateOf(testShop, of.order_id);
          checks.equal('status', state.status, answer?.code === 0 ? to : 6);
          checks.equal('moves in the history', state.moves, 2);
          checks.equal('stock', await stockOf(testShop, of.sku), stockAt[state.status]);
          return checks.faults;
        },
      };
    },
  };
}

export const orderPairs: readonly Pair[] = [
  {
    name: 'two buyers of the last piece',
    bothWays: false,
    async setUp(testShop) {
      const [one, two] = await testShop.buyers(2);
      const { sku_ids } = await testShop.goods({ stocks: [1] });
      return {
        first: (at) => order(at, one!, sku_ids),
        second: (at) => order(at, two!, sku_ids),
        async faults(answers) {
          const checks = oneWins(answers);
          checks.equal('stock', await stockOf(testShop, sku_ids[0]!), { stock: 1, reserved: 1, sold: 0 });
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'one cart ordered twice',
    bothWays: false,
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const { sku_ids } = await testShop.goods({ stocks: [10] });
      const { token, address_id } = buyer!;
      await testShop.second.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[0], qty: 2 } });
      const all: Action = (at) => at.call('POST', '/api/v1/orders', { token, body: { address_id } });
      return {
        first: all,
        second: all,
        async faults(answers) {
          const checks = oneWins(answers);
          checks.equal('stock', await stockOf(testShop, sku_ids[0]!), { stock: 10, reserved: 2, sold: 0 });
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'a cart is ordered and extended',
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const { sku_ids } = await testShop.goods({ stocks: [10] });
      const { token, address_id, id } = buyer!;
      const add: Action = (at) => at.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[0] } });
      await add(testShop.second);
      return {
        first: (at) => at.call('POST', '/api/v1/orders', { token, body: { address_id } }),
        second: add,
        async faults(answers) {
          const checks = bothWin(answers);
          const [row] = await testShop.sql<{ n: number }[]>`
            select coalesce((select sum(qty) from orders.cart_lines where user_id = ${id}), 0)
              + coalesce((select sum(i.qty) from orders.order_items i join orders.orders o on o.id = i.order_id
                          where o.user_id = ${id}), 0) as n`;
          checks.equal('pieces in cart and order', Number(row!.n), 2);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'two orders of the same pair of goods in opposite order',
    bothWays: false,
    async setUp(testShop) {
      const [one, two] = await testShop.buyers(2);
      const { sku_ids } = await testShop.goods({ stocks: [5, 5] });
      return {
        first: (at) => order(at, one!, sku_ids),
        second: (at) => order(at, two!, [...sku_ids].reverse()),
        faults: async (answers) => bothWin(answers).faults,
      };
    },
  },
  oneOrder('pay and pay', (_shop, of) => [pay(of), pay(of)], [2, 2]),
  oneOrder('cancel and cancel', (_shop, of) => [cancel(of), cancel(of)], [6, 6]),
  oneOrder('pay and cancel', (_shop, of) => [pay(of), cancel(of)], [2, 6]),
  oneOrder('close and pay', (testShop, of) => [close(testShop, of), pay(of)], [6, 2]),
  oneOrder('close and cancel', (testShop, of) => [close(testShop, of), cancel(of)], [6, 6]),
  againstExpiry('pay and expire', pay, 2),
  againstExpiry('cancel and expire', cancel, 6),
  {
    name: 'the price changes and the buyer pays',
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      return {
        first: reprice(testShop, of),
        second: pay(of),
        async faults([changed, payed]) {
          const checks = openChecks();
          checks.equal('the payment', payed?.code, 0);
          const { status, total, paid } = await stateOf(testShop, of.order_id);
          checks.equal('order', { status, paid }, { status: 2, paid: 1 });
          checks.equal('amount', total, changed?.code === 0 ? newPrice * 100 : 1290);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'one order shipped twice',
    bothWays: false,
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      await pay(of)(testShop.second);
      const ship = (tracking_no: string) =>
        staffCall(testShop, 'PUT', `/admin/api/orders/${of.order_id}/ship`, { company: 'SF', tracking_no });
      return {
        first: ship('SF1'),
        second: ship('SF2'),
        async faults(answers) {
          const checks = oneWins(answers);
          const [row] = await testShop.sql<{ n: number }[]>`
            select count(*)::int as n from fulfilment.shipments where order_id = ${of.order_id}`;
          checks.equal('shipments', row!.n, 1);
          checks.equal('status', (await stateOf(testShop, of.order_id)).status, 3);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'one Idempotency-Key on two instances',
    bothWays: false,
    patienceMs: 60,
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const { sku_ids } = await testShop.goods();
      const key = keyed();
      const place: Action = (at) => order(at, buyer!, sku_ids, key);
      return {
        first: place,
        second: place,
        async faults(answers) {
          const checks = bothWin(answers);
          checks.equal('the second answer', answers[1]?.body, answers[0]?.body);
          const [row] = await testShop.sql<{ n: number }[]>`
            select count(*)::int as n from orders.orders where user_id = ${buyer!.id}`;
          checks.equal('orders', row!.n, 1);
          return checks.faults;
        },
      };
    },
  },
];
