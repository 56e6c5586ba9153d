import { randomUUID } from 'node:crypto';
import type { Log } from '@tradepost/runtime';
import type { ExternalClient } from './protocol/client.ts';

export type Sellable = {
  /**
   * What the external warehouse can sell of these SKUs. A SKU it has told nothing about is not in the map: our own number
   * stands. Null when nothing is known of any. Never waits longer than the deadline.
   */
  sellable(skuIds: readonly number[]): Promise<ReadonlyMap<number, number> | null>;
};

const freshMs = 2_000;
/** A page is shown with our own numbers rather than late. */
const deadlineMs = 500;
/** After a failure or a missed deadline nobody asks for so long: pages must not each wait for a partner that hangs. */
const restMs = 5_000;
/** An old answer of the warehouse is nearer the truth than our own number, which does not know of its other customers. */
const rememberedMs = 600_000;
const maxRemembered = 50_000;
const idsPerCall = 100;
/** Product pages share the connections with the reservations of orders. */
const callsAtOnce = 4;

/** Ids that go out together; `settle` lets go who waits for them. */
type Batch = { ids: Set<number>; done: Promise<void>; settle: () => void };
/** `stock` is undefined where the warehouse was asked and said nothing. */
type Told = { stock: number | undefined; at: number };

/** The rows of an answer by SKU, malformed ones left out. Null when it holds no rows. */
function stocksOf(data: unknown): Map<unknown, number> | null {
  if (!Array.isArray(data)) return null;
  const stocks = new Map<unknown, number>();
  for (const row of data as unknown[]) {
    const { sku_id, sellable_stock } = (row ?? {}) as Record<string, unknown>;
    if (Number.isSafeInteger(sellable_stock)) stocks.set(sku_id, Math.max(sellable_stock as number, 0));
  }
  return stocks;
}

/**
 * Sellable stock for product display. Calls of one turn of the event loop become one call of at most 100 ids; an id under
 * way is not asked for twice.
 *
 * ```
 *          failure, missed deadline            5 s over: one page tries
 *  asking --------------------------> resting -------------------------> asking, others still rest
 *                                        ^       fails                        | answers in time
 *                                        +------------------------------------+--> asking
 * ```
 *
 * Who rests is told what the warehouse said in the last ten minutes. An answer after the deadline is remembered, but ends
 * no rest: the next pages would wait again.
 */
export function openSellable(deps: { client: ExternalClient; log: Log; now?: () => number }): Sellable {
  const { client, log, now = () => performance.now() } = deps;
  const told = new Map<number, Told>();
  const underWay = new Map<number, Batch>();
  const waiting: Batch[] = [];
  let running = 0;
  /** When asking may begin again; null while all is well. */
  let restsUntil: number | null = null;
  let failures = 0;

  function remember(sku: number, stock: number | undefined, at: number): void {
    // Of two answers the one asked for later counts.
    if ((told.get(sku)?.at ?? at) > at) return;
    told.delete(sku);
    told.set(sku, { stock, at });
    if (told.size > maxRemembered) told.delete(told.keys().next().value!);
  }

  function fail(reason: string): void {
    failures += 1;
    if (restsUntil === null) log.warn({ reason }, 'sellable stock is shown from memory or our own numbers');
    restsUntil = now() + restMs;
    for (const batch of waiting.splice(0)) batch.settle();
  }

  async function ask(batch: Batch): Promise<void> {
    const at = now();
    const failuresBefore = failures;
    const overdue = setTimeout(() => fail(`no answer within ${deadlineMs} ms`), deadlineMs);
    const requestId = `sellable:${randomUUID()}`;
    const body = { sku_ids: [...batch.ids] };
    const answer = await client.call('stock/sellable', body, { requestId, timeoutMs: restMs });
    clearTimeout(overdue);
    const stocks = answer.kind === 'success' ? stocksOf(answer.data) : null;
    if (stocks) for (const id of batch.ids) remember(id, stocks.get(id), at);
    // Its own delay is one of the failures.
    if (failures > failuresBefore) return;
    if (!stocks) fail(answer.kind === 'success' ? 'the answer holds no rows' : answer.message);
    else if (restsUntil !== null) {
      restsUntil = null;
      log.info('sellable stock comes from the external warehouse again');
    }
  }

  function pump(): void {
    while (running < callsAtOnce && waiting.length > 0) {
      const batch = waiting.shift()!;
      running += 1;
      void ask(batch)
        .catch((error: unknown) => fail(String((error as Error | null)?.message)))
        .finally(() => {
          running -= 1;
          batch.settle();
          pump();
        });
    }
  }

  function openBatch(): Batch {
    const { promise, resolve } = Promise.withResolvers<void>();
    const settle = () => {
      clearTimeout(timer);
      for (const id of batch.ids) if (underWay.get(id) === batch) underWay.delete(id);
      resolve();
    };
    const batch: Batch = { ids: new Set(), done: promise, settle };
    // Who asks for thousands may wait in vain without the partner being at fault: only `ask` counts failures.
    const timer = setTimeout(() => {
      if (waiting.includes(batch)) waiting.splice(waiting.indexOf(batch), 1);
      settle();
    }, deadlineMs);
    waiting.push(batch);
    setImmediate(pump);
    return batch;
  }

  /** The call that will tell about this SKU. */
  function enlist(id: number): Batch {
    const found = underWay.get(id);
    if (found) return found;
    const last = waiting.at(-1);
    const batch = last && last.ids.size < idsPerCall ? last : openBatch();
    batch.ids.add(id);
    underWay.set(id, batch);
    return batch;
  }

  return {
    async sellable(skuIds) {
      const ids = new Set(skuIds);
      const old = [...ids].filter((id) => now() - (told.get(id)?.at ?? Number.NEGATIVE_INFINITY) >= freshMs);
      const resting = restsUntil !== null && now() < restsUntil;
      if (old.length > 0 && !resting) {
        // Who comes first after the rest tries; the others go on resting meanwhile.
        if (restsUntil !== null) restsUntil = now() + restMs;
        await Promise.all([...new Set(old.map(enlist))].map((batch) => batch.done));
      }
      const known = new Map<number, number>();
      for (const id of ids) {
        const { stock, at } = told.get(id) ?? {};
        if (stock !== undefined && now() - at! < rememberedMs) known.set(id, stock);
      }
      return known.size > 0 || ids.size === 0 ? known : null;
    },
  };
}
