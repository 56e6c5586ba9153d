import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '@tradepost/testing/client';
import type { RaceResult } from './race.ts';
import { type Instance, keyed, openPayment, order, payOrCancel, sendNotice, type TestShop } from './test-shop.ts';

/** A write that a client repeats with the same key until it gets a final answer. */
export type Write = {
  name: string;
  setUp(testShop: TestShop): Promise<{
    send(at: Instance): Promise<Answer>;
    /** How often the write has taken effect. */
    times(): Promise<number>;
  }>;
};

const maxStatements = 40;
/** How long a client repeats. */
const patienceMs = 15_000;
/** The longest time for all repeats. A dead request must not count as running. */
const repeatMs = 5_000;

/** Whether the answer is the outcome: not a 5xx, and not 409, which means that the first request still runs. */
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
 * Breaks the connection to the database at each statement of a write: before the statement is sent, and after it ran but
 * before its answer arrived. The client repeats the write with its key, on the same instance or on the other one. The write
 * must take effect exactly once. The short form alternates between the instances instead of using both.
 */
export async function breakWrite(testShop: TestShop, write: Write, size: 'short' | 'long'): Promise<RaceResult> {
  const raced: RaceResult = { rounds: 0, requests: 0, refused: 0, held: [], faults: [] };
  const { databaseProxy, first, second } = testShop;
  for (const begin of size === 'long' ? [0, 1] : [0])
    for (const cut of ['cutBefore', 'cutAfter'] as const)
      for (let at = 1; ; at += 1) {
        if (at > maxStatements) throw new Error(`${write.name}: more than ${maxStatements} statements`);
        const repeatAt = (at + begin + Number(cut === 'cutAfter')) % 2 ? second : first;
        const { send, times } = await write.setUp(testShop);
        const gate = databaseProxy[cut](at);
        const begun = send(first);
        const broken = await Promise.race([gate.reached, begun.then(() => null)]);
        const answer = await begun;
        gate.go();
        const fault = (what: string) =>
          raced.faults.push(
            `${write.name}: ${what} (${cut} statement ${at}: ${broken?.slice(0, 80)}; first answer ${answer.code}, ` +
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
        if (happened !== 1) fault(`it took effect ${happened} times`);
        if (answer.code === 0 && JSON.stringify(answer.body) !== JSON.stringify(last.body)) fault('the answers differ');
        if (broken === null) break;
        raced.held.push(broken);
      }
  return raced;
}

const count = async (query: PromiseLike<readonly unknown[]>) => Number(((await query)[0] as { n: unknown }).n ?? 0);

const placeOrder = async (testShop: TestShop) => {
  const [buyer] = await testShop.buyers(1);
  const { sku_ids } = await testShop.goods();
  const { data } = await order(testShop.second, buyer!, sku_ids);
  return { buyer: buyer!, order_id: data.id as number };
};

const payOrCancelOnce = (verb: 'pay' | 'cancel'): Write => ({
  name: verb,
  async setUp(testShop) {
    const { buyer, order_id } = await placeOrder(testShop);
    const key = keyed();
    return {
      send: (at) => payOrCancel(at, verb, buyer, order_id, key),
      times: () =>
        count(
          testShop.sql`select count(*) as n from orders.order_history where order_id = ${order_id} and from_status = 1`,
        ),
    };
  },
});

export const writes: readonly Write[] = [
  {
    name: 'order',
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const { sku_ids } = await testShop.goods();
      const key = keyed();
      return {
        send: (at) => order(at, buyer!, sku_ids, key),
        times: () => count(testShop.sql`select count(*) as n from orders.orders where user_id = ${buyer!.id}`),
      };
    },
  },
  payOrCancelOnce('pay'),
  payOrCancelOnce('cancel'),
  {
    name: 'add to the cart',
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const { sku_ids } = await testShop.goods();
      const key = keyed();
      const { token, id } = buyer!;
      return {
        send: (at) => at.call('POST', '/api/v1/cart/add', { token, body: { sku_id: sku_ids[0] }, ...key }),
        times: () => count(testShop.sql`select sum(qty) as n from orders.cart_lines where user_id = ${id}`),
      };
    },
  },
  {
    name: 'remove an address',
    async setUp(testShop) {
      const [buyer] = await testShop.buyers(1);
      const { token, id, address_id } = buyer!;
      const key = keyed();
      return {
        send: (at) => at.call('DELETE', `/api/v1/addresses/${address_id}`, { token, ...key }),
        times: () => count(testShop.sql`select 1 - count(*) as n from identity.addresses where user_id = ${id}`),
      };
    },
  },
  {
    name: 'ship',
    async setUp(testShop) {
      const { buyer, order_id } = await placeOrder(testShop);
      await payOrCancel(testShop.second, 'pay', buyer, order_id);
      const key = keyed();
      const body = { company: 'SF', tracking_no: `SF${order_id}` };
      return {
        send: (at) => at.call('PUT', `/admin/api/orders/${order_id}/ship`, { token: testShop.staff, body, ...key }),
        times: () => count(testShop.sql`select count(*) as n from fulfilment.shipments where order_id = ${order_id}`),
      };
    },
  },
  {
    name: 'payment notice',
    async setUp(testShop) {
      const { buyer, order_id } = await placeOrder(testShop);
      const money = await openPayment(testShop.second, buyer, order_id);
      const nonce = randomUUID();
      return {
        send: (at) => sendNotice(at, money, nonce),
        times: () =>
          count(
            testShop.sql`select count(*) as n from orders.order_history where order_id = ${order_id} and trigger = 'pay'`,
          ),
      };
    },
  },
];
