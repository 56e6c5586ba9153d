import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../harness/client.ts';
import type { Raced } from './race.ts';
import { act, type Instance, keyed, openMoney, order, type Stage, tell } from './stage.ts';

/** A write that a client repeats, with the same key, until it is told what came of it. */
export type Deed = {
  name: string;
  setUp(stage: Stage): Promise<{
    send(at: Instance): Promise<Answer>;
    /** How often it has happened. */
    times(): Promise<number>;
  }>;
};

const most = 40;
/** What a client goes on repeating for. */
const patienceMs = 15_000;

/** An answer that says what happened: not a fault, and not that somebody is still at it. */
const isFinal = ({ status }: Answer) => status < 500 && status !== 409;

async function repeatUntilAnswered(send: () => Promise<Answer>): Promise<{ answer: Answer; repeats: number }> {
  for (const end = performance.now() + patienceMs, count = { repeats: 0 }; ; ) {
    const answer = await send();
    count.repeats += 1;
    if (isFinal(answer) || performance.now() > end) return { answer, repeats: count.repeats };
    await sleep(20);
  }
}

/**
 * Breaks the connection to the database at each statement of a write in turn: before it is sent, and after it was carried
 * out but before its answer arrived. The client repeats with its key, on the same instance or on another one, and the write
 * must have happened exactly once.
 */
export async function breakDeed(stage: Stage, deed: Deed): Promise<Raced> {
  const raced: Raced = { rounds: 0, requests: 0, refused: 0, held: [], faults: [] };
  const { wire, first, second } = stage;
  for (const repeatAt of [first, second])
    for (const cut of ['cutBefore', 'cutAfter'] as const)
      for (let at = 1; at <= most; at += 1) {
        const { send, times } = await deed.setUp(stage);
        const gate = wire[cut](at);
        const begun = send(first);
        const broken = await Promise.race([gate.reached, begun.then(() => null)]);
        const answer = await begun;
        gate.go();
        raced.rounds += 1;
        raced.requests += 1;
        const fault = (what: string) =>
          raced.faults.push(
            `${deed.name}: ${what} (${cut} statement ${at}: ${broken?.slice(0, 80)}; first answer ${answer.code}, ` +
              `repeated on the ${repeatAt === first ? 'same' : 'other'} instance)`,
          );
        const begin = performance.now();
        const { answer: last, repeats } = await repeatUntilAnswered(() => send(repeatAt));
        const took = performance.now() - begin;
        raced.requests += repeats;
        if (last.code !== 0) fault(`the repeat was answered ${last.status} ${last.code} ${last.message}`);
        if (took > 5_000) fault(`the repeat took ${Math.round(took)} ms`);
        const happened = await times();
        if (happened !== 1) fault(`it happened ${happened} times`);
        if (answer.code === 0 && JSON.stringify(answer.body) !== JSON.stringify(last.body)) fault('the answers differ');
        if (took > 5000) console.error('ROW', await stage.sql`select k.*, now() from runtime.idempotency_keys k order by claimed_at desc limit 1`, await stage.sql`select application_name, state, query from pg_stat_activity where datname=current_database() and application_name like 'tradepost%'`);
        if (process.env.RACE_LOG) console.error(deed.name, cut, at, answer.status, repeats, Math.round(took), broken?.slice(0, 50));
        if (broken === null) break;
        raced.held.push(broken);
      }
  return raced;
}

const count = async (query: PromiseLike<readonly unknown[]>) => Number(((await query)[0] as { n: unknown }).n ?? 0);

const placedBy = async (stage: Stage) => {
  const [buyer] = await stage.buyers(1);
  const { sku_ids } = await stage.goods();
  const { data } = await order(stage.second, buyer!, sku_ids);
  return { buyer: buyer!, sku_ids, order_id: data.id as number };
};

const moving = (verb: 'pay' | 'cancel'): Deed => ({
  name: verb,
  async setUp(stage) {
    const { buyer, order_id } = await placedBy(stage);
    const key = keyed();
    return {
      send: (at) => act(at, verb, buyer, order_id, key),
      times: () =>
        count(stage.sql`select count(*) as n from orders.order_history where order_id = ${order_id} and from_status = 1`,
        ),
    };
  },
});

export const deeds: readonly Deed[] = [
  {
    name: 'order',
    async setUp(stage) {
      const [buyer] = await stage.buyers(1);
      const { sku_ids } = await stage.goods();
      const key = keyed();
      return {
        send: (at) => order(at, buyer!, sku_ids, key),
        times: () => count(stage.sql`select count(*) as n from orders.orders where user_id = ${buyer!.id}`),
      };
    },
  },
  moving('pay'),
  moving('cancel'),
  {
    name: 'add to the cart',
    async setUp(stage) {
      const [buyer] = await stage.buyers(1);
      const { sku_ids } = await stage.goods();
      const key = keyed();
      const { token, id } = buyer!;
      return {
        send: (at) => at.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[0] }, ...key }),
        times: () => count(stage.sql`select sum(qty) as n from orders.cart_lines where user_id = ${id}`),
      };
    },
  },
  {
    name: 'a notice of money',
    async setUp(stage) {
      const { buyer, order_id } = await placedBy(stage);
      const money = await openMoney(stage.second, buyer, order_id);
      const nonce = randomUUID();
      return {
        send: (at) => tell(at, money, nonce),
        times: () =>
          count(stage.sql`select count(*) as n from orders.order_history where order_id = ${order_id} and trigger = 'pay'`,
          ),
      };
    },
  },
];
