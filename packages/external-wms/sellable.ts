import { randomUUID } from 'node:crypto';
import { CircuitBreaker } from '@tradepost/core';
import type { Log } from '@tradepost/runtime';
import type { ExternalClient } from './protocol/client.ts';
import { sellableRowsOf } from './protocol/sellable-rows.ts';
import { type Batch, openBatches } from './sellable-batches.ts';

export type Sellable = {
  /**
   * The sellable quantities of these SKUs at the external warehouse. A SKU with an unknown quantity is not in the map. Null when
   * all quantities are unknown. The call does not wait longer than the deadline.
   */
  sellable(skuIds: readonly number[]): Promise<ReadonlyMap<number, number> | null>;
};

const freshMs = 2_000;
/** The longest time that a page waits for the warehouse. */
const deadlineMs = 500;
const openMs = 5_000;
/** The first failure or missed deadline opens the circuit, so that not every page waits for a partner that hangs. */
const circuitOptions = { failuresToOpen: 1, firstPauseMs: openMs, longestPauseMs: openMs };
/** An old quantity of the warehouse is better than the stock column, which does not include the other customers of the warehouse. */
const rememberedMs = 600_000;
const maxRemembered = 50_000;

/** `stock` is undefined when the answer did not have the SKU. */
type Cached = { stock: number | undefined; at: number };

/** The sellable stock in an answer, by SKU. Null when the answer has no list of rows. */
function stocksOf(data: unknown): Map<number, number> | null {
  const rows = sellableRowsOf(data);
  return rows && new Map(rows.map(({ sku_id, sellable_stock }) => [sku_id, Math.max(sellable_stock, 0)]));
}

/**
 * Sellable stock for product pages. The pages of one event-loop iteration share calls of at most 100 ids. An id that a running
 * call asks for is not requested again. A circuit breaker protects pages from a partner that hangs. After a failure or a missed
 * deadline it is open for 5 s, then one page makes the trial call. While the circuit is open, pages get the quantities of the last
 * ten minutes. An answer after the deadline is cached, but does not close the circuit, because the next pages would wait again.
 */
export function openSellable(deps: { client: ExternalClient; log: Log; now?: () => number }): Sellable {
  const { client, log, now = () => performance.now() } = deps;
  const cached = new Map<number, Cached>();
  const circuit = new CircuitBreaker(circuitOptions);
  /** All failures since the start. */
  let failures = 0;

  function remember(sku: number, stock: number | undefined, at: number): void {
    // The answer to the later call is kept, even when it arrives before the answer to an earlier call.
    if ((cached.get(sku)?.at ?? at) > at) return;
    cached.delete(sku);
    cached.set(sku, { stock, at });
    if (cached.size > maxRemembered) cached.delete(cached.keys().next().value!);
  }

  function fail(reason: string): void {
    failures += 1;
    const at = now();
    if (circuit.state(at) === 'closed') log.warn({ reason }, 'sellable stock comes from the cache or the stock column');
    // A failed call starts a new pause even when it is not the trial call.
    circuit.fail(at, true);
    batches.settleWaiting();
  }

  async function ask(batch: Batch): Promise<void> {
    const at = now();
    const failuresBefore = failures;
    const overdue = setTimeout(() => fail(`no answer within ${deadlineMs} ms`), deadlineMs);
    const requestId = `sellable:${randomUUID()}`;
    const body = { sku_ids: [...batch.ids] };
    const answer = await client.call('stock/sellable', body, { requestId, timeoutMs: openMs });
    clearTimeout(overdue);
    const stocks = answer.kind === 'success' ? stocksOf(answer.data) : null;
    if (stocks) for (const id of batch.ids) remember(id, stocks.get(id), at);
    // When this call missed its deadline, the failure was already counted.
    if (failures > failuresBefore) return;
    if (!stocks) fail(answer.kind === 'success' ? 'the answer has no list of rows' : answer.message);
    else if (circuit.succeed()) log.info('sellable stock comes from the external warehouse again');
  }

  const batches = openBatches(
    (batch) => ask(batch).catch((error: unknown) => fail(String((error as Error | null)?.message))),
    deadlineMs,
  );

  return {
    async sellable(skuIds) {
      const ids = new Set(skuIds);
      const old = [...ids].filter((id) => now() - (cached.get(id)?.at ?? Number.NEGATIVE_INFINITY) >= freshMs);
      if (old.length > 0 && circuit.allows(now())) {
        const isTrial = circuit.begin(now());
        await Promise.all([...new Set(old.map(batches.batchOf))].map((batch) => batch.done));
        // Without an answer in time the trial has failed, also when no call reported it.
        if (isTrial && circuit.state(now()) === 'half-open') circuit.pause(now(), openMs);
      }
      const known = new Map<number, number>();
      for (const id of ids) {
        const { stock, at } = cached.get(id) ?? {};
        if (stock !== undefined && now() - at! < rememberedMs) known.set(id, stock);
      }
      return known.size > 0 || ids.size === 0 ? known : null;
    },
  };
}
