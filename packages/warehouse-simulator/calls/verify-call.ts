import type { IncomingHttpHeaders } from 'node:http';
import { signatureFits } from '@tradepost/external-wms';

export type VerifierOptions = { appKey: string; appSecret: string; signatureTtl: number };

/** Verifies the headers of a call. The verifier returns the fault, or null for a valid call of the shop. */
export function openCallVerifier({ appKey, appSecret, signatureTtl }: VerifierOptions) {
  // A nonce must be remembered until its timestamp is too old, at most twice the window. Two generations contain all of them.
  let fresh = new Set<string>();
  let aged = new Set<string>();
  let rotatesAt = Date.now() + signatureTtl * 2_000;

  const isReplay = (nonce: string): boolean => {
    if (Date.now() >= rotatesAt) {
      [aged, fresh] = [fresh, new Set()];
      rotatesAt = Date.now() + signatureTtl * 2_000;
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
    // The nonce is checked last, so that a caller without the secret can not use up nonces.
    return isReplay(nonce) ? 'X-Nonce: used before' : null;
  };
}
