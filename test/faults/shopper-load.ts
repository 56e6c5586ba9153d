import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import type { Outcome } from './scenario.ts';
import type { Buyer } from './test-shop.ts';
import { type OnAnswer, openWriter, type Target } from './writes.ts';

export type Shoppers = {
  /** Orders that were confirmed to their shopper. */
  confirmed(): number;
  /** Requests that ended without an answer or with a 5xx, and were repeated. */
  interrupted(): number;
  /** Writes that were refused. */
  refused(): number;
  /** Stops the load. Open writes are repeated until they are answered. */
  finish(): Promise<void>;
  /** Compares the answers with the tables, and records differences as faults. */
  verify(sql: Sql, outcome: Outcome): Promise<void>;
};

/** Starts shoppers who order, pay and cancel. */
export function startShoppers(
  target: Target,
  buyers: readonly Buyer[],
  skuIds: readonly number[],
  options: {
    /** Pause between two orders of a shopper. Default: no pause. */
    pauseMs?: number;
    /** Lines of a flash sale. Every second shopper buys one of them with each order. */
    onSale?: readonly { sku_id: number; activity_product_id: number }[];
    onAnswer?: OnAnswer;
  } = {},
): Shoppers {
  const writer = openWriter(target, options.onAnswer);
  let ending = false;
  let confirmed = 0;

  async function buyRepeatedly({ address_id, token }: Buyer, index: number): Promise<void> {
    for (let round = 0; !ending; round += 1) {
      if (options.pauseMs) await sleep(options.pauseMs);
      const key = randomUUID();
      const ordinary = [0, 1].map((n) => ({ sku_id: skuIds[(index * 7 + round * 3 + n * 11) % skuIds.length] }));
      const sale = index % 2 === 1 ? options.onSale?.[round % options.onSale.length] : undefined;
      const items = sale ? [ordinary[0], sale] : ordinary;
      const body = JSON.stringify({ address_id, items, remark: key });
      const path = '/api/v1/orders';
      const placed = await writer.write({ verb: 'order', key, path, body, token, order: 0 });
      const id = placed.data?.id;
      if (placed.code !== 0 || id === undefined) continue;
      confirmed += 1;
      const verb = round % 3 === 0 ? 'cancel' : 'pay';
      if (round % 4 !== 3)
        await writer.write({ verb, key: randomUUID(), path: `${path}/${id}/${verb}`, body: '', token, order: id });
    }
  }
  const shopping = Promise.all(buyers.map(buyRepeatedly));
  shopping.catch(() => {
    ending = true;
  });

  return {
    confirmed: () => confirmed,
    interrupted: writer.interrupted,
    refused: writer.refused,
    async finish() {
      ending = true;
      await shopping;
    },
    verify: writer.verify,
  };
}
