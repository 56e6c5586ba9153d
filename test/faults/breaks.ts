import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '@tradepost/testing/client';
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
/** What a repeat may take in all: nobody may be taken for still at work. */
const repeatMs = 5_000;

/** An answer that says what happened: not a fault, and not that somebody is still at it. */
const isFinal = ({ status }: Answer) => status < 500 && status !== 409;

async function repeatUntilAnswered(send: () => Promise<Answer>): Promise<{ answer: Answer; repeats: number }> {
  const end = performance.now() + patienceMs;
  for (let repeats = 1; ; repeats += 1) {
    const answer = await send();
    if (isFinal(answer) || performance.now() > end) return { answer, repeats };
    await sleep(20);
  }
}

/**
 * Breaks the connection to the database at each statement of a write in turn: before it is sent, and after it was carried
 * out but before its answer arrived. The client repeats with its key, on the same instance or on another one, and the write
 * must have happened exactly once. The short form repeats on one instance and on the other by turns.
 */
export async function breakDeed(stage: Stage, deed: Deed, size: 'short' | 'long'): Promise<Raced> {
  const raced: Raced = { rounds: 0, requests: 0, refused: 0, held: [], faults: [] };
  const { wire, first, second } = stage;
  for (const begin of size === 'long' ? [0, 1] : [0])
    for (const cut of ['cutBefore', 'cutAfter'] as const)
      for (let at = 1; ; at += 1) {
        if (at > most) throw new Error(`${deed.name}: more than ${most} statements`);
        const repeatAt = (at + begin + Number(cut === 'cutAfter')) % 2 ? second : first;
        const { send, times } = await deed.setUp(stage);
        const gate = wire[cut](at);
        const begun = send(first);
        const broken = await Promise.race([gate.reached, begun.then(() => null)]);
        const answer = await begun;
        gate.go();
        const fault = (what: string) =>
          raced.faults.push(
            `${deed.name}: ${what} (${cut} statement ${at}: ${broken?.slice(0, 80)}; first answer ${answer.code}, ` +
              `repeated on the ${repeatAt === first ? 'same' : 'other'} instance)`,
          );
        const repeatedFrom = performance.now();
        const { answer: last, repeats } = await repeatUntilAnswered(() => send(repeatAt));
        const took = performance.now() - repeatedFrom;
        raced.rounds += 1;
        raced.requests += 1 + repeats;
        if (last.code !== 0) fault(`the repeat was answered ${last.status} ${last.code} ${last.message}`);
        if (took > repeatMs) fault(`the repeat took ${Math.round(took)} ms`);
        const happened = await times();
        if (happened !== 1) fault(`it happened ${happened} times`);
        if (answer.code === 0 && JSON.stringify(answer.body) !== JSON.stringify(last.body)) fault('the answers differ');
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
  return { buyer: buyer!, order_id: data.id as number };
};

const moving = (verb: 'pay' | 'cancel'): Deed => ({
  name: verb,
  async setUp(stage) {
    const { buyer, order_id } = await placedBy(stage);
    const key = keyed();
    return {
      send: (at) => act(at, verb, buyer, order_id, key),
      times: () =>
        count(
          stage.sql`select count(*) as n from orders.order_history where order_id = ${order_id} and from_status = 1`,
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
    name: 'remove an address',
    async setUp(stage) {
      const [buyer] = await stage.buyers(1);
      const { token, id, address_id } = buyer!;
      const key = keyed();
      return {
        send: (at) => at.call('DELETE', `/api/v1/addresses/${address_id}`, { token, ...key }),
        times: () => count(stage.sql`select 1 - count(*) as n from identity.addresses where user_id = ${id}`),
      };
    },
  },
  {
    name: 'ship',
    async setUp(stage) {
      const { buyer, order_id } = await placedBy(stage);
      await act(stage.second, 'pay', buyer, order_id);
      const key = keyed();
      const body = { company: 'SF', tracking_no: `SF${order_id}` };
      return {
        send: (at) => at.call('PUT', `/admin/api/orders/${order_id}/ship`, { token: stage.staff, body, ...key }),
        times: () => count(stage.sql`select count(*) as n from fulfilment.shipments where order_id = ${order_id}`),
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
          count(
            stage.sql`select count(*) as n from orders.order_history where order_id = ${order_id} and trigger = 'pay'`,
          ),
      };
    },
  },
];
