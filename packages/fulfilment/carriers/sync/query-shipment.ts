import type { CarrierRouter } from '../carrier-router.ts';
import { companyOf } from '../companies.ts';
import type { CarrierClient, QueryOptions } from '../drivers/carrier-client.ts';
import type { CarrierNode, CarrierStatus } from '../drivers/driver.ts';
import type { ClaimedShipment } from './claim-store.ts';
import type { LogRow } from './result-store.ts';

type QueryDeps = { readonly router: CarrierRouter; readonly client: CarrierClient };
type QueryLog = Omit<LogRow, 'shipment_id'>;

/** The result of a sync: found by one driver, failed with every driver that was asked, or none could be asked. */
export type SyncResult = { readonly shipment: ClaimedShipment; readonly logs: readonly QueryLog[] } & (
  | {
      readonly kind: 'found';
      readonly provider: string;
      readonly status: CarrierStatus;
      readonly nodes: readonly CarrierNode[];
    }
  | { readonly kind: 'failed' }
  /** `pauseMs` is null when the shipment has no driver with an account. It then waits for its next turn. */
  | { readonly kind: 'postponed'; readonly pauseMs: number | null }
);

const failure = (provider: string, error: string, cost_ms: number): QueryLog => ({
  ...{ provider, success: false, error_code: 'query_failed', error, cost_ms },
});

/**
 * Queries the services of the drivers of a shipment, one after the other, until one has found it. Writes nothing and throws
 * nothing. `phone` is the number of the receiver, for the carriers that ask for it.
 */
export async function queryShipment(
  { router, client }: QueryDeps,
  shipment: ClaimedShipment,
  phone: string,
  options: Omit<QueryOptions, 'sendBefore'>,
): Promise<SyncResult> {
  const company = companyOf(shipment.company);
  const drivers = router.driversFor(shipment.channel_provider);
  if (drivers.length === 0) return { kind: 'postponed', shipment, logs: [], pauseMs: null };
  const logs: QueryLog[] = [];
  let pauseMs = 0;
  for (const driver of drivers) {
    const code = driver.companyCodes[shipment.company];
    if (!code) {
      logs.push(failure(driver.name, `${driver.name} does not know the company ${shipment.company}`, 0));
      continue;
    }
    const query = { company: code, tracking_no: shipment.tracking_no, phone: company?.asksPhone ? phone : '' };
    const outcome = await client.query(driver, query, { ...options, sendBefore: shipment.claimed_until });
    if (outcome.kind === 'unsent') {
      pauseMs = Math.max(pauseMs, outcome.pauseMs);
      continue;
    }
    if (outcome.kind === 'found') {
      logs.push({ provider: driver.name, success: true, error_code: '', error: '', cost_ms: outcome.ms });
      return { kind: 'found', shipment, logs, provider: driver.name, status: outcome.status, nodes: outcome.nodes };
    }
    // A query that was given up says nothing about the shipment.
    if (options.signal?.aborted) break;
    logs.push(failure(driver.name, outcome.reason, outcome.ms));
  }
  return logs.length > 0 ? { kind: 'failed', shipment, logs } : { kind: 'postponed', shipment, logs, pauseMs };
}
