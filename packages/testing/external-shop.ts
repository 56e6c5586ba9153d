import { randomUUID } from 'node:crypto';
import { externalSignature } from '@tradepost/external-wms';
import type { Sql } from '@tradepost/postgres';
import { type BehaviourOptions, openSimulator, type Simulator } from '@tradepost/warehouse-simulator';
import type { Answer } from './client.ts';
import { openShop, type Shop } from './shop.ts';

export const partner = { appKey: 'test-key', appSecret: 'secret-of-the-tests' } as const;

export type ExternalShop = { shop: Shop; simulator: Simulator; close(): Promise<void> };

/** The settings of a shop whose stock is kept at `endpoint`; retries come at once. */
export const externalSettings = (
  endpoint: string,
  mode: 'sync' | 'async',
  more: Readonly<Record<string, unknown>> = {},
) => ({
  'inventory.provider': 'external_wms',
  'inventory.external_mode': mode,
  'external_wms.endpoint': endpoint,
  'external_wms.app_key': partner.appKey,
  'external_wms.app_secret': partner.appSecret,
  'external_wms.callback_enabled': false,
  'external_wms.worker_interval_sec': 1,
  'external_wms.retry.backoff_seconds': 0,
  // Without a pause eight of them are over before a test has looked.
  'external_wms.retry.max_attempts': 1_000,
  ...more,
});

/** A shop with its worker, and a simulated warehouse that keeps its stock. */
export async function openExternalShop(
  mode: 'sync' | 'async',
  {
    settings = {},
    behaviour = {},
  }: { settings?: Readonly<Record<string, unknown>>; behaviour?: BehaviourOptions } = {},
): Promise<ExternalShop> {
  const simulator = await openSimulator(partner);
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

/** Where our books and the warehouse's differ, per SKU and per order, in words; empty when they agree to the piece. */
export async function ledgerDifferences(sql: Sql, simulator: Pick<Simulator, 'ledger'>): Promise<string[]> {
  const { skus, documents } = simulator.ledger();
  const ours = await sql<{ biz_no: string; sku_id: number; qty: number; status: string }[]>`
    select r.biz_no, r.sku_id, r.qty, r.status
    from inventory.inventory_reservation r join inventory.order_inventory_state s on s.order_no = r.biz_no
    where s.provider = 'external_wms' order by r.biz_no, r.sku_id`;
  const differences: string[] = [];
  const compare = (what: string, here: unknown, there: unknown) => {
    if (JSON.stringify(here) !== JSON.stringify(there))
      differences.push(`${what}: here ${JSON.stringify(here)}, there ${JSON.stringify(there)}`);
  };
  const sum = (sku: number, status: string) =>
    ours.filter((row) => row.sku_id === sku && row.status === status).reduce((all, row) => all + row.qty, 0);
  for (const sku of new Set([...ours.map((row) => row.sku_id), ...skus.map((row) => row.sku_id)])) {
    const there = skus.find((row) => row.sku_id === sku);
    compare(
      `SKU ${sku}`,
      { reserved: sum(sku, 'reserved'), gone: sum(sku, 'confirmed') },
      { reserved: there?.reserved ?? 0, gone: -(there?.by_documents ?? 0) },
    );
  }
  const stateThere = new Map(documents.filter((row) => row.biz_type === 'order').map((row) => [row.biz_no, row.state]));
  const stateHere = new Map(ours.map((row) => [row.biz_no, row.status]));
  for (const [number, state] of stateHere) {
    const there = stateThere.get(number) ?? null;
    // What was never held is as good as given back.
    if (!(state === 'released' && there === null)) compare(`order ${number}`, state, there);
  }
  for (const [number, state] of stateThere)
    if (!stateHere.has(number) && (state === 'reserved' || state === 'confirmed'))
      differences.push(`order ${number}: unknown here, ${state} there`);
  return differences;
}

/** A callback of the partner, signed, with a nonce and an id of its own unless `inner` or `outer` say otherwise. */
export function callBack(
  shop: Pick<Shop, 'call'>,
  inner: Readonly<Record<string, unknown>>,
  outer: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const parts = {
    app_key: partner.appKey,
    timestamp: String(Math.trunc(Date.now() / 1000)),
    nonce: randomUUID(),
    body: JSON.stringify({ callback_id: randomUUID(), message: '', ...inner }),
    ...outer,
  };
  const sign = externalSignature(parts, partner.appSecret);
  return shop.call('POST', '/admin/api/external-wms/callback', { body: { sign, ...parts } });
}
