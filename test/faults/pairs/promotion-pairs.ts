import type { Action, Pair } from '../race.ts';
import { type Buyer, payOrCancel, type TestShop } from '../test-shop.ts';
import { expireOrder, runExpiry } from './actions.ts';
import { oneWins, openChecks } from './checks.ts';

/** What the orders of these pairs use: a coupon of 1.00, 100 points, and the lines of a flash sale with this cap. */
type Promotions = { coupon: number; activity: { sku_id: number; activity_product_id: number } };

/** Creates a coupon of 1.00 and returns its id. */
async function createCoupon(testShop: TestShop, of: { name: string; total_count: number }): Promise<number> {
  const { code, data, message } = await testShop.second.call('POST', '/admin/api/marketing/coupons', {
    token: testShop.staff,
    body: { ...of, type: 3, discount: 1, min_amount: 0, per_limit: 1, status: 1 },
  });
  if (code !== 0) throw new Error(message);
  return data.id;
}

/** Gives the buyer a coupon and points, and adds a product to the running flash sale of the shop. */
async function promotionsFor(testShop: TestShop, { id, token }: Buyer, cap = 0): Promise<Promotions> {
  const { sql } = testShop;
  const { sku_ids } = await testShop.goods({ stocks: [10], price: 1290 });
  const made = await createCoupon(testShop, { name: 'One off', total_count: 0 });
  await testShop.second.call('POST', `/api/v1/coupons/${made}/claim`, { token });
  const [coupon] = await sql<{ id: number }[]>`
    select id from marketing.user_coupons where user_id = ${id} and coupon_id = ${made}`;
  const points = { user_id: id, points: 100, remark: 'race' };
  await testShop.second.call('POST', '/admin/api/points/adjust', { token: testShop.staff, body: points });
  await sql`
    insert into activities.activities (type, name, start_at, end_at)
    select 'seckill', 'Flash sale', now() - interval '1 minute', now() + interval '1 day'
    where not exists (select from activities.activities where type = 'seckill')`;
  const [activity] = await sql<Promotions['activity'][]>`
    insert into activities.activity_products (activity_id, product_id, sku_id, activity_price, total_stock_limit)
    select a.id, s.product_id, s.id, 1000, ${cap}::int from activities.activities a, catalog.sku_cards s
    where a.type = 'seckill' and s.id = ${sku_ids[0]!}
    returning sku_id, id as activity_product_id`;
  return { coupon: coupon!.id, activity: activity! };
}

const orderWith =
  ({ token, address_id }: Buyer, items: readonly object[], choices: object = {}): Action =>
  (at) =>
    at.call('POST', '/api/v1/orders', { token, body: { address_id, items, ...choices } });

/** The coupon, the balance of the buyer, and the sold pieces of the activity. */
async function usesOf({ sql }: TestShop, { id }: Buyer, { coupon, activity }: Promotions) {
  const [row] = await sql<{ coupon: number; points: number; sold: number }[]>`
    select (select status from marketing.user_coupons where id = ${coupon}) as coupon,
      (select balance from points.accounts where user_id = ${id})::int as points,
      (select sold_qty from activities.activity_products where id = ${activity.activity_product_id}) as sold`;
  return { ...row! };
}

/** Two orders of one buyer that both want to use the same. Exactly one is placed. */
function usedOnce(name: string, choicesOf: (of: Promotions) => object, used: object): Pair {
  return {
    name,
    bothWays: false,
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const promotions = await promotionsFor(testShop, buyer!);
      const goods = await testShop.goods({ stocks: [10, 10] });
      const [first, second] = goods.sku_ids.map((sku_id) => orderWith(buyer!, [{ sku_id }], choicesOf(promotions)));
      return {
        first: first!,
        second: second!,
        async faults(answers) {
          const checks = oneWins(answers);
          checks.equal('uses', await usesOf(testShop, buyer!, promotions), { ...unused, ...used });
          return checks.faults;
        },
      };
    },
  };
}

type PromotedOrder = { buyer: Buyer; promotions: Promotions; order_id: number };
const unused = { coupon: 1, points: 100, sold: 0 };

/** Places an order that uses a coupon, all points, and the last piece of a flash sale. */
async function placePromoted(testShop: TestShop): Promise<PromotedOrder> {
  const [buyer] = await testShop.buyers(1);
  const promotions = await promotionsFor(testShop, buyer!, 1);
  const { sku_ids } = await testShop.goods({ stocks: [10] });
  const choices = { coupon_ids: [promotions.coupon], points_use: 100 };
  const placed = await orderWith(buyer!, [promotions.activity, { sku_id: sku_ids[0] }], choices)(testShop.second);
  if (placed?.code !== 0) throw new Error(placed?.message);
  return { buyer: buyer!, promotions, order_id: placed.data.id };
}

const statusOf = async ({ sql }: TestShop, id: number) => {
  const [order] = await sql<{ status: number }[]>`select status from orders.orders where id = ${id}`;
  return order!.status;
};

/** An order with promotions whose time is over, and two acts that cancel it: all is returned once. */
function usesReturned(name: string, acts: (of: PromotedOrder) => [Action, Action]): Pair {
  return {
    name,
    async setUp(testShop) {
      const of = await placePromoted(testShop);
      await expireOrder(testShop, of.order_id);
      const [first, second] = acts(of);
      return {
        first,
        second,
        async faults() {
          const checks = openChecks();
          checks.equal('status', await statusOf(testShop, of.order_id), 6);
          checks.equal('uses', await usesOf(testShop, of.buyer, of.promotions), unused);
          return checks.faults;
        },
      };
    },
  };
}

/** An order with promotions that is paid while another act cancels it: all is used when it is paid, else all is returned. */
function usesFollowStatus(name: string, acts: (of: PromotedOrder) => [Action, Action]): Pair {
  return {
    name,
    async setUp(testShop) {
      const of = await placePromoted(testShop);
      const [first, second] = acts(of);
      return {
        first,
        second,
        async faults(answers) {
          const checks = oneWins(answers);
          const paid = answers[0]?.code === 0;
          checks.equal('status', await statusOf(testShop, of.order_id), paid ? 2 : 6);
          const used = { coupon: 2, points: 0, sold: 1 };
          checks.equal('uses', await usesOf(testShop, of.buyer, of.promotions), paid ? used : unused);
          return checks.faults;
        },
      };
    },
  };
}

const actOn =
  (act: 'pay' | 'cancel', { buyer, order_id }: PromotedOrder): Action =>
  (at) =>
    payOrCancel(at, act, buyer, order_id);

/** An order and an exchange of the points mall that both take the whole balance. */
const orderAndExchange: Pair = {
  name: 'one balance of points in an order and an exchange',
  async setUp(testShop) {
    const [buyer] = await testShop.buyers(1);
    const promotions = await promotionsFor(testShop, buyer!);
    const { sku_ids } = await testShop.goods({ stocks: [10] });
    const { token } = buyer!;
    const body = { title: 'Wallpaper', type: 'virtual', points_price: 100, stock: 1 };
    const { data } = await testShop.second.call('POST', '/admin/api/points/products', { token: testShop.staff, body });
    return {
      first: orderWith(buyer!, [{ sku_id: sku_ids[0] }], { points_use: 100 }),
      second: (at) => at.call('POST', `/api/v1/points/products/${data.id}/exchange`, { token, body: {} }),
      async faults(answers) {
        const checks = oneWins(answers);
        checks.equal('uses', await usesOf(testShop, buyer!, promotions), { ...unused, points: 0 });
        const [row] = await testShop.sql<{ n: number; sold: number }[]>`
          select (select count(*)::int from points_mall.exchanges where product_id = ${data.id}) as n, sold_count::int as sold
          from points_mall.products where id = ${data.id}`;
        const exchanged = answers[1]?.code === 0 ? 1 : 0;
        checks.equal('exchanges', { ...row! }, { n: exchanged, sold: exchanged });
        return checks.faults;
      },
    };
  },
};

export const promotionPairs: readonly Pair[] = [
  usedOnce('one coupon in two orders', ({ coupon }) => ({ coupon_ids: [coupon] }), { coupon: 2 }),
  usedOnce('one balance of points in two orders', () => ({ points_use: 100 }), { points: 0 }),
  {
    name: 'two buyers of the last piece of a flash sale',
    bothWays: false,
    async setUp(testShop) {
      const [one, two] = await testShop.buyers(2);
      const promotions = await promotionsFor(testShop, one!, 1);
      return {
        first: orderWith(one!, [promotions.activity]),
        second: orderWith(two!, [promotions.activity]),
        async faults(answers) {
          const checks = oneWins(answers);
          checks.equal('sold', (await usesOf(testShop, one!, promotions)).sold, 1);
          return checks.faults;
        },
      };
    },
  },
  orderAndExchange,
  usesReturned('an order with promotions is cancelled and expires', (of) => [actOn('cancel', of), runExpiry]),
  usesFollowStatus('an order with promotions is paid and cancelled', (of) => [actOn('pay', of), actOn('cancel', of)]),
  {
    name: 'two claims of the last coupon',
    bothWays: false,
    async setUp(testShop) {
      const [one, two] = await testShop.buyers(2);
      const coupon = await createCoupon(testShop, { name: 'The last one', total_count: 1 });
      const claim =
        ({ token }: Buyer): Action =>
        (at) =>
          at.call('POST', `/api/v1/coupons/${coupon}/claim`, { token });
      return {
        first: claim(one!),
        second: claim(two!),
        async faults(answers) {
          const checks = oneWins(answers);
          const [row] = await testShop.sql<{ n: number }[]>`
            select count(*)::int as n from marketing.user_coupons where coupon_id = ${coupon}`;
          checks.equal('coupons', row!.n, 1);
          return checks.faults;
        },
      };
    },
  },
];
