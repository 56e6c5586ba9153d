import { randomUUID } from 'node:crypto';
import { externalSignature } from '@tradepost/external-wms';
import type { Sql } from '@tradepost/postgres';
import { type BehaviourOptions, openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import type { Answer } from './client.ts';
import { openShop, type Shop } from './shop.ts';

export const warehouseAccount = { appKey: 'test-key', appSecret: 'secret-of-the-tests' } as const;

export type ExternalShop = { shop: Shop; simulator: Simulator; close(): Promise<void> };

/** The settings of a shop whose stock is in the external warehouse at `endpoint`. Failed tasks are retried without a pause. */
export const externalSettings = (
  endpoint: string,
  mode: 'sync' | 'async',
  more: Readonly<Record<string, unknown>> = {},
) => ({
  'inventory.provider': 'external_wms',
  'inventory.external_mode': mode,
  'external_wms.endpoint': endpoint,
  'external_wms.app_key': warehouseAccount.appKey,
  'external_wms.app_secret': warehouseAccount.appSecret,
  'external_wms.callback_enabled': false,
  'external_wms.worker_interval_sec': 1,
  'external_wms.retry.backoff_seconds': 0,
  // The default of eight attempts would be used up before the test can act.
  'external_wms.retry.max_attempts': 1_000,
  ...more,
});

/** A shop with its worker, and a simulated external warehouse that owns its stock. */
export async function openExternalShop(
  mode: 'sync' | 'async',
  {
    settings = {},
    behaviour = {},
  }: { settings?: Readonly<Record<string, unknown>>; behaviour?: BehaviourOptions } = {},
): Promise<ExternalShop> {
  const simulator = await openSimulator(warehouseAccount);
  const shop = await openShop({ only: 'api,worker' }, externalSettings(simulator.url, mode, settings));
  simulator.change({ callbackUrl: `${shop.url}/admin/api/external-wms/callback`, ...behaviour });
  return {
    shop,
    simulator,
    async close() {
      await shop.close();
      await simulator.close();
    },
  };
}

/** The differences between the stock ledger of the shop and that of the warehouse, one line per SKU or order. Empty when they agree. */
export async function ledgerDifferences(sql: Sql, simulator: Pick<Simulator, 'ledger'>): Promise<string[]> {
  const { skus, documents } = simulator.ledger();
  const reservations = await sql<{ biz_no: string; sku_id: number; qty: number; status: string }[]>`
    select r.biz_no, r.sku_id, r.qty, r.status
    from inventory.inventory_reservation r join inventory.order_inventory_state s on s.order_no = r.biz_no
    where s.provider = 'external_wms' order by r.biz_no, r.sku_id`;
  const differences: string[] = [];
  const compare = (subject: string, shop: unknown, warehouse: unknown) => {
    if (JSON.stringify(shop) !== JSON.stringify(warehouse))
      differences.push(`${subject}: shop ${JSON.stringify(shop)}, warehouse ${JSON.stringify(warehouse)}`);
  };
  const sum = (sku: number, status: string) =>
    reservations
      .filter((row) => row.sku_id === sku && row.status === status)
      .reduce((total, row) => total + row.qty, 0);
  for (const sku of new Set([...reservations.map((row) => row.sku_id), ...skus.map((row) => row.sku_id)])) {
    const warehouseSku = skus.find((row) => row.sku_id === sku);
    compare(
      `SKU ${sku}`,
      { reserved: sum(sku, 'reserved'), confirmed: sum(sku, 'confirmed') },
      { reserved: warehouseSku?.reserved ?? 0, confirmed: -(warehouseSku?.by_documents ?? 0) },
    );
  }
  const warehouseStates = new Map(
    documents.filter((row) => row.biz_type === 'order').map((row) => [row.biz_no, row.state]),
  );
  const shopStates = new Map(reservations.map((row) => [row.biz_no, row.status]));
  for (const [number, state] of shopStates) {
    const warehouseState = warehouseStates.get(number) ?? null;
    // A released order may be unknown to the warehouse: its stock was never reserved there.
    if (!(state === 'released' && warehouseState === null)) compare(`order ${number}`, state, warehouseState);
  }
  for (const [number, state] of warehouseStates)
    if (!shopStates.has(number) && (state === 'reserved' || state === 'confirmed'))
      differences.push(`order ${number}: unknown in the shop, ${state} in the warehouse`);
  return differences;
}

/** Sends a signed callback of the warehouse with a new nonce and id. `inner` and `outer` replace fields of the body and the message. */
export function sendCallback(
  shop: Pick<Shop, 'call'>,
  inner: Readonly<Record<string, unknown>>,
  outer: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const parts = {
    app_key: warehouseAccount.appKey,
    timestamp: String(Math.trunc(Date.now() / 1000)),
    nonce: randomUUID(),
    body: JSON.stringify({ callback_id: randomUUID(), message: '', ...inner }),
    ...outer,
  };
  const sign = externalSignature(parts, warehouseAccount.appSecret);
  return shop.call('POST', '/admin/api/external-wms/callback', { body: { sign, ...parts } });
}
