import { randomUUID } from 'node:crypto';
import { openExternalClient } from './protocol/client.ts';
import { type SellableRow, sellableRowsOf } from './protocol/sellable-rows.ts';
import { externalAppKey, externalEndpoint, externalTimeoutMs, missingSettings, settingCommand } from './settings.ts';

export type Ping = {
  ok: boolean;
  endpoint: string;
  app_key: string;
  ms: number;
  /** Null when there was no answer of the protocol. */
  code: number | null;
  message: string;
  /** What an operator can do; empty when `ok` is true. */
  advice: string;
  rows: SellableRow[];
};

/** Advice for the messages that `protocol/client.ts` and `protocol/codes.ts` give to failed calls. */
const faults: readonly (readonly [RegExp, string])[] = [
  [
    /refused \(|not found \(|no connection/,
    'check that the warehouse runs and that this machine can reach external_wms.endpoint',
  ],
  [
    /^no answer within/,
    'the warehouse was reached and did not answer in time: ask its operator, or raise external_wms.timeout_ms',
  ],
  [/^HTTP (401|403)/, 'a proxy or a list of allowed addresses in front of the warehouse refuses the shop'],
  [/^HTTP 404/, 'the path does not exist: external_wms.endpoint must be the address to which /reserve is appended'],
  [
    /^HTTP 3/,
    'the address redirects: external_wms.endpoint must be the final address, because redirects are not followed',
  ],
  [/^HTTP 5/, 'the warehouse, or a proxy in front of it, has an internal error'],
  [
    /not JSON|no integer code|request_id of another|not HTTP|larger than/,
    'the answer is not of the protocol (packages/external-wms/INTEGRATION.md): check external_wms.endpoint',
  ],
  [/app key .* can not be sent/, 'external_wms.app_key has characters that a header cannot have: correct it'],
];

const adviceOf = (code: number | null, message: string): string => {
  if (code === 4002)
    return 'the warehouse refuses the signature: external_wms.app_key and external_wms.app_secret must be those of the warehouse, and both clocks must be right';
  if (code === 4001)
    return 'the warehouse accepts the signature but refuses this request: check that it knows these SKUs';
  if (code !== null) return 'the warehouse answers in the protocol and refuses: its message gives the reason';
  return faults.find(([text]) => text.test(message))?.[1] ?? 'check external_wms.endpoint';
};

type Deps = Parameters<typeof openExternalClient>[0];

/** Requests sellable stock from the configured warehouse, which changes nothing there. Reports the result with advice. */
export async function pingWarehouse(
  deps: Deps,
  { skuIds, timeoutMs }: { skuIds: readonly number[]; timeoutMs?: number },
): Promise<Ping> {
  const { settings } = deps;
  const target = { endpoint: settings.get(externalEndpoint), app_key: settings.get(externalAppKey) };
  const missing = missingSettings(settings);
  if (missing.length > 0) {
    const message = `not configured: ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} not set`;
    const advice = missing.map(settingCommand).join('; ');
    return { ok: false, ...target, ms: 0, code: null, message, advice, rows: [] };
  }
  const client = openExternalClient(deps);
  const begun = performance.now();
  const allowed = settings.get(externalTimeoutMs);
  const options = { requestId: `ping:${randomUUID()}`, timeoutMs: Math.min(timeoutMs ?? allowed, allowed) };
  const outcome = await client.call('stock/sellable', { sku_ids: [...skuIds] }, options).finally(() => client.close());
  const ms = Math.round((performance.now() - begun) * 10) / 10;
  const { kind, code, message } = outcome;
  const answer = { ...target, ms, code, message };
  if (kind !== 'success') return { ok: false, ...answer, advice: adviceOf(code, message), rows: [] };
  const rows = sellableRowsOf(outcome.data);
  if (rows) return { ok: true, ...answer, advice: '', rows };
  const advice =
    'code 0, but `data` is not a list of { sku_id, sellable_stock }: products show the stock column instead';
  return { ok: false, ...answer, advice, rows: [] };
}
