import type { IncomingHttpHeaders } from 'node:http';
import { signatureFits } from '@tradepost/external-wms';

export type GateOptions = { appKey: string; appSecret: string; signatureTtl: number };

/** Whether a call is the shop's: answers what is wrong with its headers, or null. */
export function openGate({ appKey, appSecret, signatureTtl }: GateOptions) {
  // A nonce is good until its timestamp is too old: at most twice the window. Two generations of that age hold them all.
  let fresh = new Set<string>();
  let aged = new Set<string>();
  let turnsAt = Date.now() + signatureTtl * 2_000;

  const isReplay = (nonce: string): boolean => {
    if (Date.now() >= turnsAt) {
      [aged, fresh] = [fresh, new Set()];
      turnsAt = Date.now() + signatureTtl * 2_000;
    }
    if (fresh.has(nonce) || aged.has(nonce)) return true;
    fresh.add(nonce);
    return false;
  };

  return (headers: IncomingHttpHeaders, body: string): string | null => {
    const header = (name: string) => String(headers[name] ?? '');
    const [app_key, timestamp, nonce] = [header('x-app-key'), header('x-timestamp'), header('x-nonce')];
    if (app_key !== appKey) return 'X-App-Key: unknown';
    if (!/^\d{1,12}$/.test(timestamp)) return 'X-Timestamp: not Unix seconds';
    if (Math.abs(Date.now() / 1000 - Number(timestamp)) > signatureTtl)
      return `X-Timestamp: more than ${signatureTtl} s from the clock here`;
    if (nonce === '' || nonce.length > 200) return 'X-Nonce: must have 1 to 200 characters';
    if (header('x-request-mode') !== 'generic') return 'X-Request-Mode: must be generic';
    if (!signatureFits({ app_key, timestamp, nonce, body }, appSecret, header('x-sign'))) return 'X-Sign: does not fit';
    // Last: who can not sign must not use up the nonces of who can.
    return isReplay(nonce) ? 'X-Nonce: used before' : null;
  };
}
