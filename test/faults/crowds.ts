import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '@tradepost/testing/client';
import {
  audit,
  check,
  type Ground,
  nothingYet,
  type Outcome,
  type Scenario,
  tally,
  withoutWorker,
} from './scenario.ts';
import { act, keyed, openMoney, openStage, order, type Stage, tell } from './stage.ts';

/** A scenario on two instances of the shop. */
function onStage(
  name: string,
  about: string,
  run: (stage: Stage, outcome: Outcome, ground: Ground) => Promise<void>,
): Scenario {
  return {
    name,
    about,
    async run(ground) {
      const outcome = nothingYet();
      const stage = await openStage(ground.clusterUrl);
      await run(stage, outcome, ground);
      await audit(stage.sql, outcome, withoutWorker);
      await stage.close();
      return outcome;
    },
  };
}

function count(outcome: Outcome, answers: readonly Answer[]): void {
  outcome.requests += answers.length;
  outcome.confirmed += answers.filter((answer) => answer.code === 0).length;
  outcome.refused += answers.filter((answer) => answer.code !== 0).length;
}
const either = ({ first, second }: Stage, index: number) => (index % 2 ? second : first);
const times = <T>(n: number, make: (index: number) => T): T[] => Array.from({ length: n }, (_, index) => make(index));

const flashSale = onStage(
  'flash-sale',
  '500 buyers of 100 pieces on two instances: 100 orders, 400 polite refusals',
  async (stage, outcome, { size }) => {
    for (const rounds = size === 'long' ? 5 : 1; outcome.rounds < rounds; outcome.rounds += 1) {
      const { sku_ids } = await stage.goods({ stocks: [100] });
      const crowd = await stage.buyers(500);
      const answers = await Promise.all(crowd.map((buyer, n) => order(either(stage, n), buyer, sku_ids)));
      count(outcome, answers);
      check(outcome, 'answers', tally(answers), { 0: 100, 20001: 400 });
      const [sku] = await stage.sql`
        select stock, reserved_stock as reserved, sold from catalog.product_skus where id = ${sku_ids[0]!}`;
      check(outcome, 'stock', sku, { stock: 100, reserved: 100, sold: 0 });
    }
  },
);

const callbackBurst = onStage(
  'callback-burst',
  'one payment callback 50 times at once on two instances: paid once',
  async (stage, outcome, { size }) => {
    for (const rounds = size === 'long' ? 20 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      const { sku_ids } = await stage.goods();
      const [buyer] = await stage.buyers(1);
      const { data } = await order(stage.first, buyer!, sku_ids);
      const money = await openMoney(stage.first, buyer!, data.id);
      const nonce = randomUUID();
      // A gateway repeats the very message; some sign each repeat anew.
      const answers = await Promise.all(times(50, (n) => tell(either(stage, n), money, n % 3 ? nonce : undefined)));
      count(outcome, answers);
      check(outcome, 'answers', [...new Set(answers.map(({ body }) => JSON.stringify(body.data)))].length, 1);
      check(outcome, 'codes', tally(answers), { 0: 50 });
      const [row] = await stage.sql`
        select o.status, (select count(*)::int from orders.payments p where p.order_id = o.id) as payments,
          (select count(*)::int from orders.order_history h where h.order_id = o.id) as moves,
          (select count(*)::int from orders.refunds r where r.order_id = o.id) as refunds
        from orders.orders o where o.id = ${data.id}`;
      check(outcome, 'order', row, { status: 2, payments: 1, moves: 2, refunds: 0 });
    }
  },
);

const keyBurst = onStage(
  'key-burst',
  'one Idempotency-Key 50 times at once on two instances: one order, one answer',
  async (stage, outcome, { size }) => {
    for (const rounds = size === 'long' ? 20 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      const { sku_ids } = await stage.goods();
      const [buyer] = await stage.buyers(1);
      const key = keyed();
      const answers = await Promise.all(times(50, (n) => order(either(stage, n), buyer!, sku_ids, key)));
      count(outcome, answers);
      check(outcome, 'codes', tally(answers), { 0: 50 });
      check(outcome, 'different answers', new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
      const [row] = await stage.sql`select count(*)::int as n from orders.orders where user_id = ${buyer!.id}`;
      check(outcome, 'orders', row!.n, 1);
    }
  },
);

const lastMoment = onStage(
  'last-moment',
  'pay, cancel, run out and callback of one order at once: one of them moves it, money that came too late goes back',
  async (stage, outcome, { size }) => {
    const { first, second, sql } = stage;
    const perRound = 20;
    for (const rounds = size === 'long' ? 25 : 3; outcome.rounds < rounds; outcome.rounds += 1) {
      const { sku_ids } = await stage.goods({ stocks: [perRound] });
      const crowd = await stage.buyers(perRound);
      const orders = await Promise.all(
        crowd.map(async (buyer) => {
          const { data } = await order(first, buyer, sku_ids);
          return { buyer, id: data.id as number, money: await openMoney(second, buyer, data.id) };
        }),
      );
      const ids = orders.map(({ id }) => id);
      // Some have run out, the others do so while the actions run: an order is payable until then.
      await sql`
        update orders.orders o set expires_at = clock_timestamp() + make_interval(secs => (n - 4) * 0.01)
        from unnest(${ids}::bigint[]) with ordinality as e (id, n) where o.id = e.id`;
      const sweeps = [first.job('orders.expire'), second.job('orders.expire')];
      const done = await Promise.all(
        orders.map(async ({ buyer, id, money }, n) => {
          const [one, other] = n % 2 ? [first, second] : [second, first];
          return Promise.all([act(one, 'pay', buyer, id), tell(other, money), act(other, 'cancel', buyer, id)]);
        }),
      );
      await Promise.all(sweeps);
      // Those that ran out after the first sweep and that nothing moved.
      await sleep(perRound * 10);
      await first.job('orders.expire');
      const rows = await sql<{ id: number; status: number; moves: number; refunds: number }[]>`
        select o.id, o.status, (select count(*)::int from orders.order_history h where h.order_id = o.id) as moves,
          (select count(*)::int from orders.refunds r where r.order_id = o.id) as refunds
        from orders.orders o where o.id = any(${ids})`;
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const [n, answers] of done.entries()) {
        count(outcome, answers);
        const [paid, told, cancelled] = answers;
        const { status, moves, refunds } = byId.get(orders[n]!.id)!;
        check(
          outcome,
          'faults',
          Object.keys(tally(answers)).filter((code) => code.startsWith('HTTP')),
          [],
        );
        check(outcome, 'moves of an order', moves, 2);
        const settled = told.data?.status === 'succeeded';
        const taken = Number(paid.code === 0) + Number(cancelled.code === 0) + Number(settled);
        // None of the three when the sweep was first.
        if (taken > 1 || (taken === 0 && status !== 6))
          outcome.faults.push(`${taken} of them moved an order to ${status}`);
        check(outcome, 'status', status, paid.code === 0 || settled ? 2 : 6);
        check(outcome, 'refunds', refunds, settled ? 0 : 1);
      }
    }
  },
);

export const crowds: readonly Scenario[] = [flashSale, callbackBurst, keyBurst, lastMoment];
