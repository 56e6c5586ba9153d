import type { Pair, Race } from '../race.ts';
import { type Buyer, order, type TestShop } from '../test-shop.ts';
import { pay, placeUnpaid, staffCall } from './actions.ts';
import { type Answers, bothWin, oneWins, openChecks, stockOf } from './checks.ts';

type Good = { product: number; sku: number; buyer: Buyer };
/** A shopper places an order while staff edit the product. */
function againstEdit(
  name: string,
  edit: { method: string; path: (product: number) => string; body?: (product: number) => object },
  faults: (testShop: TestShop, of: Good, answers: Answers) => Promise<string[]>,
): Pair {
  return {
    name,
    async setUp(testShop): Promise<Race> {
      const [buyer] = await testShop.buyers(1);
      const { id, sku_ids } = await testShop.goods({ stocks: [10], price: 1000 });
      const of = { product: id, sku: sku_ids[0]!, buyer: buyer! };
      return {
        first: (at) => order(at, of.buyer, sku_ids),
        second: staffCall(testShop, edit.method, edit.path(id), edit.body?.(id)),
        faults: (answers) => faults(testShop, of, answers),
      };
    },
  };
}
const product = (id: number) => `/admin/api/products/${id}`;

export const catalogPairs: readonly Pair[] = [
  againstEdit(
    'an order and a new price',
    { method: 'PUT', path: product, body: () => ({ product: { price: 20 } }) },
    async (testShop, of, answers) => {
      const checks = bothWin(answers);
      const { total, id } = (
        await testShop.sql<{ total: number; id: number }[]>`
          select id, total_amount as total from orders.orders where user_id = ${of.buyer.id}`
      )[0]!;
      checks.isTrue(total === 1000 || total === 2000, `order ${id} costs ${total}`);
      checks.equal('amount in the answer', answers[0]?.data?.total_amount, total / 100);
      return checks.faults;
    },
  ),
  againstEdit(
    'an order and its product hidden',
    { method: 'PUT', path: product, body: () => ({ product: { status: 0 } }) },
    async (testShop, of, answers) => {
      const checks = openChecks();
      checks.equal('the edit', answers[1]?.code, 0);
      const reserved = answers[0]?.code === 0 ? 1 : 0;
      checks.equal('stock', await stockOf(testShop, of.sku), { stock: 10, reserved, sold: 0 });
      return checks.faults;
    },
  ),
  againstEdit(
    'an order and its stock set to 0',
    { method: 'PUT', path: product, body: () => ({ product: { stock: 0 } }) },
    async (testShop, of, answers) => {
      const checks = oneWins(answers);
      const expected =
        answers[0]?.code === 0 ? { stock: 10, reserved: 1, sold: 0 } : { stock: 0, reserved: 0, sold: 0 };
      checks.equal('stock', await stockOf(testShop, of.sku), expected);
      return checks.faults;
    },
  ),
  againstEdit(
    'an order and its product deleted',
    { method: 'DELETE', path: product },
    async (testShop, of, answers) => {
      const checks = oneWins(answers);
      const [row] = await testShop.sql<{ n: number }[]>`
      select count(*)::int as n from orders.orders where user_id = ${of.buyer.id}`;
      checks.equal('orders', row!.n, answers[0]?.code === 0 ? 1 : 0);
      return checks.faults;
    },
  ),
  {
    name: 'a payment and the stock edited',
    async setUp(testShop) {
      const of = await placeUnpaid(testShop);
      return {
        first: pay(of),
        second: staffCall(testShop, 'PUT', product(of.product), { product: { stock: 50 } }),
        async faults(answers) {
          const checks = bothWin(answers);
          const { stock, reserved, sold } = await stockOf(testShop, of.sku);
          checks.equal('reserved and sold', { reserved, sold }, { reserved: 0, sold: 1 });
          checks.isTrue(stock === 49 || stock === 50, `stock is ${stock}`);
          return checks.faults;
        },
      };
    },
  },
  {
    name: 'a favourite added and removed',
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const { id } = await testShop.goods();
      const path = `/api/v1/products/${id}/favorite`;
      const { token } = buyer!;
      return {
        first: (at) => at.call('POST', path, { token }),
        second: (at) => at.call('DELETE', path, { token }),
        async faults(answers) {
          const checks = bothWin(answers);
          const [row] = await testShop.sql<{ counted: number; there: number }[]>`
            select favorite_count as counted,
              (select count(*)::int from catalog.favorites where product_id = ${id}) as there
            from catalog.products where id = ${id}`;
          checks.equal('favourites counted', row!.counted, row!.there);
          return checks.faults;
        },
      };
    },
  },
];
