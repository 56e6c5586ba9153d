import { randomUUID } from 'node:crypto';
import { externalSignature } from '@tradepost/external-wms';
import type { Answer } from '@tradepost/testing/client';
import { warehouseAccount } from '@tradepost/testing/external-shop';
import type { Instance } from './test-shop.ts';

type Status = 'success' | 'failed' | 'processing';
export type Message = { request_id: string; callback_id?: string; status?: Status; message?: string };
type Outer = { app_key: string; timestamp: string; nonce: string; body: string; sign: string };

/** A signed callback of the warehouse. `secondsOff`: the error of its clock. */
export function signedCallback(
  { request_id, callback_id = randomUUID(), status = 'success', message = '' }: Message,
  { nonce = randomUUID(), secondsOff = 0, secret = warehouseAccount.appSecret as string } = {},
): Outer {
  const body = JSON.stringify({ request_id, callback_id, status, message });
  const timestamp = String(Math.trunc(Date.now() / 1000) + secondsOff);
  const parts = { app_key: warehouseAccount.appKey, timestamp, nonce, body };
  return { ...parts, sign: externalSignature(parts, secret) };
}

export const sendCallback = (at: Instance, body: unknown): Promise<Answer> =>
  at.call(
    'POST',
    '/admin/api/external-wms/callback',
    typeof body === 'string' ? { rawBody: body, headers: { 'content-type': 'application/json' } } : { body },
  );

/** Invalid callbacks about an existing task, one of each kind. They must not change anything. */
export function wrongCallbacks(request_id: string): { kind: string; body: unknown; codes: readonly number[] }[] {
  const about: Message = { request_id, status: 'failed', message: 'forged' };
  const good = signedCallback(about);
  return [
    { kind: 'signed with another secret', body: signedCallback(about, { secret: 'guess' }), codes: [400] },
    { kind: 'too old', body: signedCallback(about, { secondsOff: -400 }), codes: [400] },
    { kind: 'from the future', body: signedCallback(about, { secondsOff: 400 }), codes: [400] },
    { kind: 'with another app key', body: { ...good, app_key: 'someone' }, codes: [400] },
    { kind: 'with another body', body: { ...good, body: good.body.replace('forged', 'forger') }, codes: [400] },
    { kind: 'truncated', body: JSON.stringify(good).slice(0, -20), codes: [400] },
    { kind: 'without a signature', body: { ...good, sign: undefined }, codes: [400] },
    { kind: 'too large', body: { ...good, padding: 'x'.repeat(80_000) }, codes: [413] },
    { kind: 'about an unknown task', body: signedCallback({ ...about, request_id: `${request_id}:no` }), codes: [500] },
    { kind: 'not JSON', body: '<html></html>', codes: [400] },
  ];
}
