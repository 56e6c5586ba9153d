import type { Pair, Race } from '../race.ts';
import { type Buyer, order, type Stage } from '../stage.ts';
import { pay, placed, staffCall } from './actions.ts';
import { type Answers, bothWin, expecting, oneWins, stockOf } from './checks.ts';

type Good = { product: number; sku: number; buyer: Buyer };
/** An order placed while staff change its goods. */
function againstEdit(
  name: string,
  edit: { method: string; path: (product: number) => string; body?: (product: number) => object },
  faults: (stage: Stage, of: Good, answers: Answers) => Promise<string[]>,
): Pair {
  return {
    name,
    async setUp(stage): Promise<Race> {
      const [buyer] = await stage.buyers(1);
      const { id, sku_ids } = await stage.goods({ stocks: [10], price: 1000 });
      const of = { product: id, sku: sku_ids[0]!, buyer: buyer! };
      return {
        first: (at) => order(at, of.buyer, sku_ids),
        second: staffCall(stage, edit.method, edit.path(id), edit.body?.(id)),
        faults: (answers) => faults(stage, of, answers),
      };
    },
  };
}
const product = (id: number) => `/admin/api/products/${id}`;

export const catalogPairs: readonly Pair[] = [
  againstEdit(
    'an order and a new price',
    { method: 'PUT', path: product, body: () => ({ product: { price: 20 } }) },
    async (stage, of, answers) => {
      const should = bothWin(answers);
      const { total, id } = (
        await stage.sql<{ total: number; id: number }[]>`
          select id, total_amount as total from orders.orders where user_id = ${of.buyer.id}`
      )[0]!;
      should.that(total === 1000 || total === 2000, `order ${id} costs ${total}`);
      should.same('what the buyer was told', answers[0]?.data?.total_amount, total / 100);
      return should.faults;
    },
  ),
  againstEdit(
    'an order and its goods taken off the shelf',
    { method: 'PUT', path: product, body: () => ({ product: { status: 0 } }) },
    async (stage, of, answers) => {
      const should = expecting();
      should.same('the edit', answers[1]?.code, 0);
      const reserved = answers[0]?.code === 0 ? 1 : 0;
      should.same('stock', await stockOf(stage, of.sku), { stock: 10, reserved, sold: 0 });
      return should.faults;
    },
  ),
  againstEdit(
    'an order and its stock set to nothing',
    { method: 'PUT', path: product, body: () => ({ product: { stock: 0 } }) },
    async (stage, of, answers) => {
      const should = oneWins(answers);
      const wanted = answers[0]?.code === 0 ? { stock: 10, reserved: 1, sold: 0 } : { stock: 0, reserved: 0, sold: 0 };
      should.same('stock', await stockOf(stage, of.sku), wanted);
      return should.faults;
    },
  ),
  againstEdit('an order and its goods deleted', { method: 'DELETE', path: product }, async (stage, of, answers) => {
    const should = oneWins(answers);
    const [row] = await stage.sql<{ n: number }[]>`
      select count(*)::int as n from orders.orders where user_id = ${of.buyer.id}`;
    should.same('orders', row!.n, answers[0]?.code === 0 ? 1 : 0);
    return should.faults;
  }),
  {
    name: 'a payment and the stock edited',
    async setUp(stage) {
      const of = await placed(stage);
      return {
        first: pay(of),
        second: staffCall(stage, 'PUT', product(of.product), { product: { stock: 50 } }),
        async faults(answers) {
          const should = bothWin(answers);
          const { stock, reserved, sold } = await stockOf(stage, of.sku);
          should.same('held and sold', { reserved, sold }, { reserved: 0, sold: 1 });
          should.that(stock === 49 || stock === 50, `stock is ${stock}`);
          return should.faults;
        },
      };
    },
  },
  {
    name: 'a favourite added and removed',
    async setUp(stage) {
      const [buyer] = await stage.buyers(1);
      const { id } = await stage.goods();
      const path = `/api/v1/products/${id}/favorite`;
      const { token } = buyer!;
      return {
        first: (at) => at.call('POST', path, { token }),
        second: (at) => at.call('DELETE', path, { token }),
        async faults(answers) {
          const should = bothWin(answers);
          const [row] = await stage.sql<{ counted: number; there: number }[]>`
            select favorite_count as counted,
              (select count(*)::int from catalog.favorites where product_id = ${id}) as there
            from catalog.products where id = ${id}`;
          should.same('favourites counted', row!.counted, row!.there);
          return should.faults;
        },
      };
    },
  },
];
