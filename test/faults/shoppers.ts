import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import { check, type Outcome } from './scenario.ts';
import type { Buyer } from './stage.ts';

type Verb = 'order' | 'pay' | 'cancel';
export type Told = {
  status: number;
  code: number;
  data: { id?: number } | null;
  text: string;
  /** Header of a refusal that says when to come back. */
  retryAfter: string | null;
};
/** One write under its key, and the answer its shopper has come to hold. */
type Deed = { verb: Verb; key: string; path: string; body: string; buyer: Buyer; order: number; told: Told | null };

/** Where the shop is reached just now; waits while it is known to be away. */
export type Target = () => Promise<string>;

export type Crowd = {
  /** Orders whose shopper has been told so. */
  confirmed(): number;
  /** Requests that ended without an answer or with a fault, and were repeated. */
  interrupted(): number;
  /** Lets every shopper come to an end: whatever is open is repeated until it is answered. */
  finish(): Promise<void>;
  /** What does not fit between what the shoppers were told and what is in the tables. */
  verify(sql: Sql, outcome: Outcome): Promise<void>;
};

/** What a shopper goes on repeating for. */
const patienceMs = 120_000;
const answerMs = 30_000;

async function send(url: string, { key, path, body, buyer }: Deed): Promise<Told | null> {
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
    // Cut off: nobody knows what happened.
    return null;
  }
}

/** Neither a fault nor "somebody is still at it" nor "come back later". */
const isAnswer = ({ status }: Told) => status < 500 && status !== 409 && status !== 429;

/**
 * Shoppers who order, pay and cancel without a pause, each write under a key of its own, and repeat what was not answered with
 * the same key, as a good client does.
 */
export function openCrowd(
  target: Target,
  buyers: readonly Buyer[],
  skuIds: readonly number[],
  options: {
    /** Between two orders of a shopper. */
    pauseMs?: number;
    /** Every answer, also those that are repeated; null: the connection broke. */
    onAnswer?: (verb: Verb, told: Told | null, ms: number) => void;
  } = {},
): Crowd {
  const deeds: Deed[] = [];
  let ending = false;
  let confirmed = 0;
  let interrupted = 0;
  let requests = 0;

  async function carryThrough(deed: Deed): Promise<Told> {
    deeds.push(deed);
    const until = performance.now() + patienceMs;
    for (let pause = 20; ; pause = Math.min(pause * 2, 200)) {
      const url = await target();
      requests += 1;
      const sent = performance.now();
      const told = await send(url, deed);
      options.onAnswer?.(deed.verb, told, performance.now() - sent);
      if (told && isAnswer(told)) {
        deed.told = told;
        return told;
      }
      interrupted += 1;
      if (performance.now() > until)
        throw new Error(`${deed.verb} ${deed.key} was not answered within ${patienceMs / 1000} s: ${told?.text}`);
      await sleep(pause);
    }
  }

  async function shop(buyer: Buyer, place: number): Promise<void> {
    for (let turn = 0; !ending; turn += 1) {
      if (options.pauseMs) await sleep(options.pauseMs);
      const key = randomUUID();
      const items = [0, 1].map((n) => ({ sku_id: skuIds[(place * 7 + turn * 3 + n * 11) % skuIds.length] }));
      // The order carries its key, so that the tables show what each key has brought about.
      const body = JSON.stringify({ address_id: buyer.address_id, items, remark: key });
      const path = '/api/v1/orders';
      const placed = await carryThrough({ verb: 'order', key, path, body, buyer, order: 0, told: null });
      const id = placed.data?.id;
      if (placed.code !== 0 || id === undefined) continue;
      confirmed += 1;
      const verb = turn % 3 === 0 ? 'cancel' : 'pay';
      const of = { path: `${path}/${id}/${verb}`, body: '', buyer, order: id, told: null };
      if (turn % 4 !== 3) await carryThrough({ verb, key: randomUUID(), ...of });
    }
  }
  const shopping = Promise.all(buyers.map(shop));
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
        where remark = any(${deeds.map((deed) => deed.key)}::text[]) group by remark`;
      const byKey = new Map(rows.map((row) => [row.key, row]));
      const statusOf = new Map(rows.flatMap((row) => row.ids.map((id) => [Number(id), row.status] as const)));
      const moved = new Set(deeds.map((deed) => deed.order));
      for (const { verb, key, told, order } of deeds) {
        if (!told) outcome.faults.push(`${verb} ${key} was never answered`);
        else if (verb === 'order') {
          const ids = (byKey.get(key)?.ids ?? []).map(Number);
          const id = told.data?.id;
          check(outcome, `orders of key ${key}, answered ${told.code}`, ids, told.code === 0 ? [id] : []);
          if (id !== undefined && !moved.has(id)) check(outcome, `status of order ${id}`, statusOf.get(id), 1);
        } else {
          // Nobody else moves these orders.
          check(outcome, `answer to ${verb} of order ${order}`, told.code, 0);
          check(outcome, `status of order ${order}`, statusOf.get(order), verb === 'pay' ? 2 : 6);
        }
      }
      // A key goes on answering what it answered, also to who has been told before.
      const sample = deeds.filter((_, index) => index % Math.ceil(deeds.length / 50) === 0);
      const url = await target();
      for (const deed of sample) {
        const again = await send(url, deed);
        requests += 1;
        check(
          outcome,
          `repeat of key ${deed.key}`,
          [again?.code, again?.data?.id],
          [deed.told?.code, deed.told?.data?.id],
        );
      }
      outcome.requests += requests;
      outcome.confirmed += confirmed;
      outcome.refused += deeds.filter((deed) => deed.told && deed.told.code !== 0).length;
    },
  };
}
