import { selectReceiverPhones } from '@tradepost/orders';
import type { Sql } from '@tradepost/postgres';
import type { Runtime, Write } from '@tradepost/runtime';
import { type CarrierRouter, openCarrierRouter } from '../carrier-router.ts';
import { companyOf } from '../companies.ts';
import { type CarrierClient, openCarrierClient } from '../drivers/carrier-client.ts';
import type { CarrierDriver } from '../drivers/driver.ts';
import type { ClaimedShipment } from './claim-store.ts';

export type SyncDeps = {
  readonly runtime: Pick<Runtime, 'sql' | 'settings' | 'now' | 'log' | 'metrics'>;
  readonly router: CarrierRouter;
  readonly client: CarrierClient;
};

/** How long a claim lasts. No query is sent that could end later. */
const claimMs = 120_000;
export const claimEnd = (now: Date): Date => new Date(now.getTime() + claimMs);

/** Opens what a sync needs: the router and the client of these drivers. */
export function openSyncDeps(runtime: SyncDeps['runtime'], drivers: readonly CarrierDriver[]): SyncDeps {
  return { runtime, router: openCarrierRouter(runtime.settings, drivers), client: openCarrierClient(runtime) };
}

/** Writes in a transaction of its own, for callers without a request. */
export const ownTransaction =
  (sql: Sql): Write =>
  async (work) => {
    const outcome: { value?: Awaited<ReturnType<typeof work>> } = {};
    await sql.begin(async (tx) => {
      outcome.value = await work(tx);
    });
    return outcome.value!;
  };

/** The phone numbers of the receivers, by order, for the carriers that ask for one. Other carriers do not get them. */
export async function phonesFor(sql: Sql, claimed: readonly ClaimedShipment[]): Promise<ReadonlyMap<number, string>> {
  const asking = claimed.filter(({ company }) => companyOf(company)?.asksPhone);
  return asking.length > 0
    ? selectReceiverPhones(sql, [...new Set(asking.map(({ order_id }) => order_id))])
    : new Map();
}
