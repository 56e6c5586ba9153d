import { randomInt } from 'node:crypto';
import type { Answer } from '@tradepost/testing/client';
import type { Doing, Pair, Race } from './race.ts';
import { act, type Buyer, keyed, openMoney, order, type Stage, tell } from './stage.ts';

type Answers = [Answer | undefined, Answer | undefined];
const codes = (answers: Answers) => answers.map((answer) => answer?.code ?? null);

/** Collects what is not as it should be, in words. */
function expecting() {
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

const winners = (answers: Answers) => answers.filter((answer) => answer?.code === 0).length;
const oneWins = (answers: Answers) => {
  const should = expecting();
  should.same(`winners (answers ${codes(answers)})`, winners(answers), 1);
  return should;
};
const bothWin = (answers: Answers) => {
  const should = expecting();
  should.same('answers', codes(answers), [0, 0]);
  return should;
};

async function stateOf({ sql }: Stage, orderId: number) {
  const [row] = await sql<{ status: number; total: number; moves: number; paid: number; back: number }[]>`
    select o.status, o.total_amount as total,
      (select count(*)::int from orders.order_history h where h.order_id = o.id) as moves,
      (select count(*)::int from orders.payments p where p.order_id = o.id and p.status = 'succeeded'
         and p.amount = o.total_amount) as paid,
      (select count(*)::int from orders.refunds r where r.order_id = o.id) as back
    from orders.orders o where o.id = ${orderId}`;
  return row!;
}
async function stockOf({ sql }: Stage, sku: number) {
  const [row] = await sql<{ stock: number; reserved: number; sold: number }[]>`
    select stock, reserved_stock as reserved, sold from catalog.product_skus where id = ${sku}`;
  return { ...row! };
}

type Placed = { buyer: Buyer; sku: number; product: number; order_id: number };
/** An unpaid order of one piece, placed on the instance that is not held. */
async function placed(stage: Stage): Promise<Placed> {
  const [buyer] = await stage.buyers(1);
  const { id, sku_ids } = await stage.goods({ stocks: [10] });
  const { code, data, message } = await order(stage.second, buyer!, sku_ids);
  if (code !== 0) throw new Error(message);
  return { buyer: buyer!, sku: sku_ids[0]!, product: id, order_id: data.id };
}
const runOut = ({ sql }: Stage, id: number) =>
  sql`update orders.orders set expires_at = now() - interval '1 minute' where id = ${id}`;

const staffCall = (stage: Stage, method: string, path: string, body?: object): Doing => {
  return (at) => at.call(method, path, { token: stage.staff, ...(body ? { body } : {}) });
};
const expire: Doing = async (at) => {
  await at.job('orders.expire');
  return undefined;
};

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
const stockAt: Record<number, { stock: number; reserved: number; sold: number }> = {
  1: { stock: 10, reserved: 1, sold: 0 },
  2: { stock: 9, reserved: 0, sold: 1 },
  6: { stock: 10, reserved: 0, sold: 0 },
};

const pay =
  ({ buyer, order_id }: Placed): Doing =>
  (at) =>
    act(at, 'pay', buyer, order_id);
const cancel =
  ({ buyer, order_id }: Placed): Doing =>
  (at) =>
    act(at, 'cancel', buyer, order_id);
/** Answers per order: what was refused for it is a refusal here. */
const close =
  (stage: Stage, { order_id }: Placed): Doing =>
  async (at) => {
    const answer = await at.call('POST', '/admin/api/orders/batch/close', {
      token: stage.staff,
      body: { ids: [order_id] },
    });
    return answer.code === 0 && answer.data.success_ids.length === 0 ? { ...answer, code: 500 } : answer;
  };

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

const newPrice = 7;
const reprice =
  (stage: Stage, { order_id }: Placed): Doing =>
  async (at) => {
    const [item] = await stage.sql<{ id: number }[]>`select id from orders.order_items where order_id = ${order_id}`;
    return at.call('POST', `/admin/api/orders/${order_id}/repricing`, {
      token: stage.staff,
      body: { items: [{ item_id: item!.id, price: newPrice }] },
    });
  };

const orders: readonly Pair[] = [
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

/** One key on two instances: one of them places the order, both give its answer. */
const keys: readonly Pair[] = [
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

const goods: readonly Pair[] = [
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

const accounts: readonly Pair[] = [
  {
    name: 'two default addresses',
    bothWays: false,
    async setUp(stage) {
      const [buyer] = await stage.buyers(1);
      const { token, id } = buyer!;
      const body = { name: 'Bo', phone: '13900000000', detail: '2 Road', is_default: 1 };
      const add: Doing = (at) => at.call('POST', '/api/v1/addresses', { token, body });
      return {
        first: add,
        second: add,
        async faults(answers) {
          const should = bothWin(answers);
          const [row] = await stage.sql`
            select count(*)::int as all, (count(*) filter (where is_default))::int as default
            from identity.addresses where user_id = ${id}`;
          should.same('addresses', row, { all: 3, default: 1 });
          return should.faults;
        },
      };
    },
  },
  {
    name: 'one login code used twice',
    bothWays: false,
    async setUp(stage) {
      const phone = `139${String(randomInt(100_000_000)).padStart(8, '0')}`;
      const { data } = await stage.second.call('POST', '/api/v1/auth/sms/send', { body: { phone } });
      const login: Doing = (at) => at.call('POST', '/api/v1/auth/sms/login', { body: { phone, code: data.dev_code } });
      return {
        first: login,
        second: login,
        async faults(answers) {
          const should = oneWins(answers);
          const [row] = await stage.sql<{ n: number }[]>`
            select count(*)::int as n from identity.shoppers where phone = ${phone}`;
          should.same('accounts', row!.n, 1);
          return should.faults;
        },
      };
    },
  },
  {
    name: 'a role deleted and given to somebody',
    async setUp(stage) {
      const name = `Role ${randomInt(1_000_000_000)}`;
      const [role] = await stage.sql<{ id: number }[]>`
        insert into identity.roles (name, permissions) values (${name}, '{order:view}') returning id`;
      const username = `staff${randomInt(1_000_000_000)}`;
      const body = { username, password: 'correct horse battery', role_id: role!.id };
      return {
        first: staffCall(stage, 'DELETE', `/admin/api/roles/${role!.id}`),
        second: staffCall(stage, 'POST', '/admin/api/admins', body),
        async faults(answers) {
          const should = oneWins(answers);
          const [row] = await stage.sql`
            select (select count(*)::int from identity.staff where username = ${username}) as staff,
                   (select count(*)::int from identity.roles where id = ${role!.id}) as roles`;
          should.same('left', row, answers[0]?.code === 0 ? { staff: 0, roles: 0 } : { staff: 1, roles: 1 });
          return should.faults;
        },
      };
    },
  },
];

/** Every contended pair of the shop. */
export const pairs: readonly Pair[] = [...orders, ...keys, ...goods, ...accounts];
