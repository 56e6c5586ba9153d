import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '@tradepost/testing/client';
import {
  audit,
  check,
  type Environment,
  emptyOutcome,
  type Outcome,
  type Scenario,
  tally,
  withoutWorker,
} from './scenario.ts';
import { keyed, openPayment, openTestShop, order, payOrCancel, sendNotice, type TestShop } from './test-shop.ts';

/** A scenario on two instances of the shop. */
function twoInstances(
  name: string,
  about: string,
  run: (testShop: TestShop, outcome: Outcome, environment: Environment) => Promise<void>,
): Scenario {
  return {
    name,
    about,
    async run(environment) {
      const outcome = emptyOutcome();
      const testShop = await openTestShop(environment.clusterUrl);
      await run(testShop, outcome, environment);
      await audit(testShop.sql, outcome, withoutWorker);
      await testShop.close();
      return outcome;
    },
  };
}

function count(outcome: Outcome, answers: readonly Answer[]): void {
  outcome.requests += answers.length;
  outcome.confirmed += answers.filter((answer) => answer.code === 0).length;
  outcome.refused += answers.filter((answer) => answer.code !== 0).length;
}
const either = ({ first, second }: TestShop, index: number) => (index % 2 ? second : first);
const times = <T>(n: number, make: (index: number) => T): T[] => Array.from({ length: n }, (_, index) => make(index));

const flashSale = twoInstances(
  'flash-sale',
  '500 buyers of 100 pieces on two instances: 100 orders, 400 refusals',
  async (testShop, outcome, { size }) => {
    for (const rounds = size === 'long' ? 5 : 1; outcome.rounds < rounds; outcome.rounds += 1) {
      const { sku_ids } = await testShop.goods({ stocks: [100] });
      const buyers = await testShop.buyers(500);
      const answers = await Promise.all(buyers.map((buyer, n) => order(either(testShop, n), buyer, sku_ids)));
      count(outcome, answers);
      check(outcome, 'answers', tally(answers), { 0: 100, 20001: 400 });
      const [sku] = await testShop.sql`
        select stock, reserved_stock as reserved, sold from catalog.product_skus where id = ${sku_ids[0]!}`;
      check(outcome, 'stock', sku, { stock: 100, reserved: 100, sold: 0 });
    }
  },
);

const callbackBurst = twoInstances(
  'callback-burst',
  'the same payment callback 50 times at once on two instances: paid once',
  async (testShop, outcome, { size }) => {
    for (const rounds = size === 'long' ? 20 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      const { sku_ids } = await testShop.goods();
      const [buyer] = await testShop.buyers(1);
      const { data } = await order(testShop.first, buyer!, sku_ids);
      const notice = await openPayment(testShop.first, buyer!, data.id);
      const nonce = randomUUID();
      // Some providers repeat the same message, others sign each repeat again.
      const answers = await Promise.all(
        times(50, (n) => sendNotice(either(testShop, n), notice, n % 3 ? nonce : undefined)),
      );
      count(outcome, answers);
      check(outcome, 'answers', [...new Set(answers.map(({ body }) => JSON.stringify(body.data)))].length, 1);
      check(outcome, 'codes', tally(answers), { 0: 50 });
      const [row] = await testShop.sql`
        select o.status, (select count(*)::int from orders.payments p where p.order_id = o.id) as payments,
          (select count(*)::int from orders.order_history h where h.order_id = o.id) as moves,
          (select count(*)::int from orders.refunds r where r.order_id = o.id) as refunds
        from orders.orders o where o.id = ${data.id}`;
      check(outcome, 'order', row, { status: 2, payments: 1, moves: 2, refunds: 0 });
    }
  },
);

const keyBurst = twoInstances(
  'key-burst',
  'the same Idempotency-Key 50 times at once on two instances: one order, one answer',
  async (testShop, outcome, { size }) => {
    for (const rounds = size === 'long' ? 20 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      const { sku_ids } = await testShop.goods();
      const [buyer] = await testShop.buyers(1);
      const key = keyed();
      const answers = await Promise.all(times(50, (n) => order(either(testShop, n), buyer!, sku_ids, key)));
      count(outcome, answers);
      check(outcome, 'codes', tally(answers), { 0: 50 });
      check(outcome, 'different answers', new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
      const [row] = await testShop.sql`select count(*)::int as n from orders.orders where user_id = ${buyer!.id}`;
      check(outcome, 'orders', row!.n, 1);
    }
  },
);

const lastMoment = twoInstances(
  'last-moment',
  'pay, cancel, expire and callback of one order at once: one of them changes it; late money is refunded',
  async (testShop, outcome, { size }) => {
    const { first, second, sql } = testShop;
    const perRound = 20;
    for (const rounds = size === 'long' ? 25 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      const { sku_ids } = await testShop.goods({ stocks: [perRound] });
      const buyers = await testShop.buyers(perRound);
      const orders = await Promise.all(
        buyers.map(async (buyer) => {
          const { data } = await order(first, buyer, sku_ids);
          return { buyer, id: data.id as number, notice: await openPayment(second, buyer, data.id) };
        }),
      );
      const ids = orders.map(({ id }) => id);
      // Some orders have expired, the others expire while the actions run. An order is payable until it expires.
      await sql`
        update orders.orders o set expires_at = clock_timestamp() + make_interval(secs => (n - 4) * 0.01)
        from unnest(${ids}::bigint[]) with ordinality as e (id, n) where o.id = e.id`;
      const sweeps = [first.job('orders.expire'), second.job('orders.expire')];
      const done = await Promise.all(
        orders.map(async ({ buyer, id, notice }, n) => {
          const [one, other] = n % 2 ? [first, second] : [second, first];
          return Promise.all([
            payOrCancel(one, 'pay', buyer, id),
            sendNotice(other, notice),
            payOrCancel(other, 'cancel', buyer, id),
          ]);
        }),
      );
      await Promise.all(sweeps);
      // Orders that expired after the first sweep and that no action changed.
      await sleep(perRound * 10);
      await first.job('orders.expire');
      const rows = await sql<{ id: number; status: number; moves: number; refunds: number }[]>`
        select o.id, o.status, (select count(*)::int from orders.order_history h where h.order_id = o.id) as moves,
          (select count(*)::int from orders.refunds r where r.order_id = o.id) as refunds
        from orders.orders o where o.id = any(${ids})`;
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const [n, answers] of done.entries()) {
        count(outcome, answers);
        const [paid, noticed, cancelled] = answers;
        const { status, moves, refunds } = byId.get(orders[n]!.id)!;
        check(
          outcome,
          'faults',
          Object.keys(tally(answers)).filter((code) => code.startsWith('HTTP')),
          [],
        );
        check(outcome, 'moves of an order', moves, 2);
        const settled = noticed.data?.status === 'succeeded';
        const changes = Number(paid.code === 0) + Number(cancelled.code === 0) + Number(settled);
        // Zero when the sweep was first.
        if (changes > 1 || (changes === 0 && status !== 6))
          outcome.faults.push(`${changes} actions changed an order to status ${status}`);
        check(outcome, 'status', status, paid.code === 0 || settled ? 2 : 6);
        check(outcome, 'refunds', refunds, settled ? 0 : 1);
      }
    }
  },
);

export const bursts: readonly Scenario[] = [flashSale, callbackBurst, keyBurst, lastMoment];
