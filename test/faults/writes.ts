import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import { check, type Outcome } from './scenario.ts';

/** The status of an order after a write of this kind. A kind without one leaves orders as they are. */
const statusAfter = {
  ...{ order: 1, pay: 2, cancel: 6 },
  ...{ apply: 5, approve: 5, send_back: 5, receive: 5, refund: 5, complete: 6 },
  ...{ claim: null, check_in: null, grant: null },
} as const satisfies Record<string, number | null>;
export type Verb = keyof typeof statusAfter;

export type ShopperAnswer = {
  status: number;
  code: number;
  data: { id?: number } | null;
  text: string;
  /** Value of the header Retry-After. */
  retryAfter: string | null;
};
/** One write with its key. `answer` is the final answer that its sender got. */
export type Write = {
  verb: Verb;
  key: string;
  path: string;
  body: string;
  token: string;
  /** The order that it changes; 0 for an order to place and for writes about no order. */
  order: number;
  answer: ShopperAnswer | null;
};

/** Returns the current address of the shop. Waits while no server runs. */
export type Target = () => Promise<string>;

/** Called for every answer, also before a repeat. `answer` is null when the connection broke. */
export type OnAnswer = (verb: Verb, answer: ShopperAnswer | null, ms: number) => void;

/** How long a shopper repeats one request. */
const patienceMs = 120_000;
const answerMs = 30_000;

async function send(
  url: string,
  { key, path, body, token }: Pick<Write, 'path' | 'token'> & Partial<Write>,
): Promise<ShopperAnswer | null> {
  try {
    const response = await fetch(url + path, {
      method: key === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body }),
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
 * Sends requests until they are answered. Each write has its own key. As a good client does, it repeats a write without a final
 * answer with the same key.
 */
export function openWriter(target: Target, onAnswer?: OnAnswer) {
  const writes: Write[] = [];
  let interrupted = 0;
  let requests = 0;

  async function untilAnswered(
    request: Parameters<typeof send>[1],
    seen: (answer: ShopperAnswer | null, ms: number) => void,
  ): Promise<ShopperAnswer> {
    const until = performance.now() + patienceMs;
    for (let pause = 20; ; pause = Math.min(pause * 2, 200)) {
      const url = await target();
      requests += 1;
      const sent = performance.now();
      const answer = await send(url, request);
      seen(answer, performance.now() - sent);
      if (answer && isFinal(answer)) return answer;
      interrupted += 1;
      if (performance.now() > until)
        throw new Error(`${request.path} was not answered within ${patienceMs / 1000} s: ${answer?.text}`);
      await sleep(pause);
    }
  }

  const refused = () => writes.filter(({ answer }) => answer && answer.code !== 0).length;

  return {
    writes,
    /** Requests that ended without an answer or with a 5xx, and were repeated. */
    interrupted: () => interrupted,
    refused,
    async write(of: Omit<Write, 'answer'>): Promise<ShopperAnswer> {
      const write: Write = { ...of, answer: null };
      writes.push(write);
      write.answer = await untilAnswered(write, (answer, ms) => onAnswer?.(write.verb, answer, ms));
      return write.answer;
    },
    async read(path: string, token: string): Promise<unknown> {
      const { code, data, text } = await untilAnswered({ path, token }, () => {});
      if (code !== 0) throw new Error(`${path}: ${text}`);
      return data;
    },
    /**
     * Compares the answers with the orders, and records differences as faults. The remark of an order is the key of its write.
     * Only the senders of these writes change these orders.
     */
    async verify(sql: Sql, outcome: Outcome): Promise<void> {
      const rows = await sql<{ key: string; ids: number[] }[]>`
        select remark as key, array_agg(id) as ids from orders.orders
        where remark = any(${writes.map((write) => write.key)}::text[]) group by remark`;
      const byKey = new Map(rows.map(({ key, ids }) => [key, ids.map(Number)]));
      const statusOf = new Map<number, number>();
      for (const { verb, key, answer, order } of writes) {
        if (!answer) outcome.faults.push(`${verb} ${key} was never answered`);
        else if (verb === 'order') {
          const { code, data } = answer;
          check(outcome, `orders of key ${key}, answered ${code}`, byKey.get(key) ?? [], code === 0 ? [data?.id] : []);
          if (code === 0 && data?.id) statusOf.set(data.id, statusAfter.order);
        } else if (statusAfter[verb] !== null) {
          check(outcome, `answer to ${verb} of order ${order}`, answer.code, 0);
          statusOf.set(order, statusAfter[verb]);
        }
      }
      const wrong = await sql<{ id: number; status: number; expected: number }[]>`
        select e.id, o.status, e.expected
        from unnest(${[...statusOf.keys()]}::bigint[], ${[...statusOf.values()]}::int[]) as e (id, expected)
        left join orders.orders o on o.id = e.id where o.status is distinct from e.expected`;
      for (const { id, status, expected } of wrong) check(outcome, `status of order ${id}`, status, expected);
      await repeatSome(outcome);
      outcome.requests += requests;
      outcome.confirmed += writes.filter(({ verb, answer }) => verb === 'order' && answer?.code === 0).length;
      outcome.refused += refused();
    },
  };

  /** A repeat with the key gets the same answer, also when the first answer has arrived. */
  async function repeatSome(outcome: Outcome): Promise<void> {
    const url = await target();
    for (const write of writes.filter((_, index) => index % Math.ceil(writes.length / 50) === 0)) {
      const again = await send(url, write);
      requests += 1;
      const found = [again?.code, again?.data?.id];
      check(outcome, `repeat of key ${write.key}`, found, [write.answer?.code, write.answer?.data?.id]);
    }
  }
}
