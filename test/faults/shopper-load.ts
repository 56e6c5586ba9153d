import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import { check, type Outcome } from './scenario.ts';
import type { Buyer } from './test-shop.ts';

type Verb = 'order' | 'pay' | 'cancel';
export type ShopperAnswer = {
  status: number;
  code: number;
  data: { id?: number } | null;
  text: string;
  /** Value of the header Retry-After. */
  retryAfter: string | null;
};
/** One write with its key. `answer` is the final answer that the shopper got. */
type Write = {
  verb: Verb;
  key: string;
  path: string;
  body: string;
  buyer: Buyer;
  order: number;
  answer: ShopperAnswer | null;
};

/** Returns the current address of the shop. Waits while no server runs. */
export type Target = () => Promise<string>;

export type Shoppers = {
  /** Orders that were confirmed to their shopper. */
  confirmed(): number;
  /** Requests that ended without an answer or with a 5xx, and were repeated. */
  interrupted(): number;
  /** Stops the load. Open writes are repeated until they are answered. */
  finish(): Promise<void>;
  /** Compares the answers with the tables, and records differences as faults. */
  verify(sql: Sql, outcome: Outcome): Promise<void>;
};

/** How long a shopper repeats one write. */
const patienceMs = 120_000;
const answerMs = 30_000;

async function send(url: string, { key, path, body, buyer }: Write): Promise<ShopperAnswer | null> {
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${buyer.token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body,
      signal: AbortSignal.timeout(answerMs),
    });
    const text = await response.text();
    const { code, data } = JSON.parse(text) as { code: number; data: { id?: number } | null };
    return { status: response.status, code, data, text, retryAfter: response.headers.get('retry-after') };
  } catch {
    // The connection broke, so the outcome is unknown.
    return null;
  }
}

/** Whether the answer is the outcome: not a 5xx, not 409 (the first request still runs), not 429 (retry later). */
const isFinal = ({ status }: ShopperAnswer) => status < 500 && status !== 409 && status !== 429;

/**
 * Starts shoppers who order, pay and cancel. Each write has its own key. As a good client does, a shopper repeats a write
 * without a final answer with the same key.
 */
export function startShoppers(
  target: Target,
  buyers: readonly Buyer[],
  skuIds: readonly number[],
  options: {
    /** Pause between two orders of a shopper. Default: no pause. */
    pauseMs?: number;
    /** Called for every answer, also before a repeat. `answer` is null when the connection broke. */
    onAnswer?: (verb: Verb, answer: ShopperAnswer | null, ms: number) => void;
  } = {},
): Shoppers {
  const writes: Write[] = [];
  let ending = false;
  let confirmed = 0;
  let interrupted = 0;
  let requests = 0;

  async function repeatUntilAnswered(write: Write): Promise<ShopperAnswer> {
    writes.push(write);
    const until = performance.now() + patienceMs;
    for (let pause = 20; ; pause = Math.min(pause * 2, 200)) {
      const url = await target();
      requests += 1;
      const sent = performance.now();
      const answer = await send(url, write);
      options.onAnswer?.(write.verb, answer, performance.now() - sent);
      if (answer && isFinal(answer)) {
        write.answer = answer;
        return answer;
      }
      interrupted += 1;
      if (performance.now() > until)
        throw new Error(`${write.verb} ${write.key} was not answered within ${patienceMs / 1000} s: ${answer?.text}`);
      await sleep(pause);
    }
  }

  async function buyRepeatedly(buyer: Buyer, index: number): Promise<void> {
    for (let round = 0; !ending; round += 1) {
      if (options.pauseMs) await sleep(options.pauseMs);
      const key = randomUUID();
      const items = [0, 1].map((n) => ({ sku_id: skuIds[(index * 7 + round * 3 + n * 11) % skuIds.length] }));
      // The remark of the order is the key, so the tables show the orders of each key.
      const body = JSON.stringify({ address_id: buyer.address_id, items, remark: key });
      const path = '/api/v1/orders';
      const placed = await repeatUntilAnswered({ verb: 'order', key, path, body, buyer, order: 0, answer: null });
      const id = placed.data?.id;
      if (placed.code !== 0 || id === undefined) continue;
      confirmed += 1;
      const verb = round % 3 === 0 ? 'cancel' : 'pay';
      const of = { path: `${path}/${id}/${verb}`, body: '', buyer, order: id, answer: null };
      if (round % 4 !== 3) await repeatUntilAnswered({ verb, key: randomUUID(), ...of });
    }
  }
  const shopping = Promise.all(buyers.map(buyRepeatedly));
  shopping.catch(() => {
    ending = true;
  });

  return {
    confirmed: () => confirmed,
    interrupted: () => interrupted,
    async finish() {
      ending = true;
      await shopping;
    },
    async verify(sql, outcome) {
      const rows = await sql<{ key: string; ids: number[]; status: number }[]>`
        select remark as key, array_agg(id) as ids, min(status) as status from orders.orders
        where remark = any(${writes.map((write) => write.key)}::text[]) group by remark`;
      const byKey = new Map(rows.map((row) => [row.key, row]));
      const statusOf = new Map(rows.flatMap((row) => row.ids.map((id) => [Number(id), row.status] as const)));
      const moved = new Set(writes.map((write) => write.order));
      for (const { verb, key, answer, order } of writes) {
        if (!answer) outcome.faults.push(`${verb} ${key} was never answered`);
        else if (verb === 'order') {
          const ids = (byKey.get(key)?.ids ?? []).map(Number);
          const id = answer.data?.id;
          check(outcome, `orders of key ${key}, answered ${answer.code}`, ids, answer.code === 0 ? [id] : []);
          if (id !== undefined && !moved.has(id)) check(outcome, `status of order ${id}`, statusOf.get(id), 1);
        } else {
          // Only this shopper changes these orders.
          check(outcome, `answer to ${verb} of order ${order}`, answer.code, 0);
          check(outcome, `status of order ${order}`, statusOf.get(order), verb === 'pay' ? 2 : 6);
        }
      }
      // A repeat with the key gets the same answer, also when the first answer has arrived.
      const sample = writes.filter((_, index) => index % Math.ceil(writes.length / 50) === 0);
      const url = await target();
      for (const write of sample) {
        const again = await send(url, write);
        requests += 1;
        check(
          outcome,
          `repeat of key ${write.key}`,
          [again?.code, again?.data?.id],
          [write.answer?.code, write.answer?.data?.id],
        );
      }
      outcome.requests += requests;
      outcome.confirmed += confirmed;
      outcome.refused += writes.filter(({ answer }) => answer && answer.code !== 0).length;
    },
  };
}
