import { randomUUID } from 'node:crypto';
import { openExternalClient } from './protocol/client.ts';
import { type SellableRow, sellableRowsOf } from './protocol/sellable-rows.ts';
import { externalAppKey, externalEndpoint, externalTimeoutMs, missingSettings, settingCommand } from './settings.ts';

export type Ping = {
  ok: boolean;
  endpoint: string;
  app_key: string;
  ms: number;
  /** Null without an answer of the protocol. */
  code: number | null;
  message: string;
  /** What an operator can do; empty where `ok`. */
  advice: string;
  rows: SellableRow[];
};

/** Advice by our own texts of failed calls (protocol/client.ts, protocol/codes.ts). */
const faults: readonly (readonly [RegExp, string])[] = [
  [
    /refused \(|not found \(|no connection/,
    'is the warehouse running, and can this machine reach external_wms.endpoint?',
  ],
  [
    /^no answer within/,
    'it is reached but does not answer in time: ask its operator, or raise external_wms.timeout_ms',
  ],
  [/^HTTP (401|403)/, 'something before the warehouse refuses us: a proxy, or a list of allowed addresses'],
  [/^HTTP 404/, 'there is no such path: external_wms.endpoint has to be the address that /reserve is added to'],
  [/^HTTP 3/, 'it is elsewhere: external_wms.endpoint has to be the address itself, redirections are not followed'],
  [/^HTTP 5/, 'the warehouse or a proxy before it is in trouble'],
  [
    /not JSON|no integer code|request_id of another|not HTTP|larger than/,
    'what answers does not speak the protocol (packages/external-wms/INTEGRATION.md): is external_wms.endpoint right?',
  ],
  [/app key .* can not be sent/, 'external_wms.app_key holds what a header can not: correct it'],
];

const adviceOf = (code: number | null, message: string): string => {
  if (code === 4002)
    return 'the warehouse does not take our signature: external_wms.app_key and external_wms.app_secret have to be those it knows, and both clocks right';
  if (code === 4001)
    return 'the warehouse speaks the protocol and takes our signature, but not this question: does it know these SKUs?';
  if (code !== null) return 'the warehouse speaks the protocol, and says no: its message tells why';
  return faults.find(([text]) => text.test(message))?.[1] ?? 'see whether external_wms.endpoint is right';
};

type Deps = Parameters<typeof openExternalClient>[0];

/** Asks the configured warehouse for sellable stock, which changes nothing there, and reports what is wrong. */
export async function pingWarehouse(
  deps: Deps,
  { skuIds, timeoutMs }: { skuIds: readonly number[]; timeoutMs?: number },
): Promise<Ping> {
  const { settings } = deps;
  const seen = { endpoint: settings.get(externalEndpoint), app_key: settings.get(externalAppKey) };
  const missing = missingSettings(settings);
  if (missing.length > 0) {
    const message = `not configured: ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} not set`;
    const advice = missing.map(settingCommand).join('; ');
    return { ok: false, ...seen, ms: 0, code: null, message, advice, rows: [] };
  }
  const client = openExternalClient(deps);
  const begun = performance.now();
  const allowed = settings.get(externalTimeoutMs);
  const options = { requestId: `ping:${randomUUID()}`, timeoutMs: Math.min(timeoutMs ?? allowed, allowed) };
  const outcome = await client.call('stock/sellable', { sku_ids: [...skuIds] }, options).finally(() => client.close());
  const ms = Math.round((performance.now() - begun) * 10) / 10;
  const { kind, code, message } = outcome;
  const answer = { ...seen, ms, code, message };
  if (kind !== 'success') return { ok: false, ...answer, advice: adviceOf(code, message), rows: [] };
  const rows = sellableRowsOf(outcome.data);
  if (rows) return { ok: true, ...answer, advice: '', rows };
  const advice = 'code 0, but `data` is no list of { sku_id, sellable_stock }: products show our own numbers';
  return { ok: false, ...answer, advice, rows: [] };
}
