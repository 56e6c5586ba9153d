import { randomBytes } from 'node:crypto';
import { toWire } from '@tradepost/core';
import { secretsMask, tracedFetch } from '@tradepost/runtime';
import { z } from 'zod';
import { orderErrors } from '../../../errors.ts';
import { isPaySignature, payHeaders, signedHeaders } from '../../pay-signature.ts';
import type { ProviderRuntime, RedirectProvider, RefundAnswer, RefundRequest } from '../provider.ts';
import { cashierResources, cashierRoutes } from './cashier.ts';
import { sandboxCashierUrl, sandboxName, sandboxRefundUrl, sandboxSecret, signatureSeconds } from './settings.ts';

const nonceForm = /^[A-Za-z0-9._~-]{8,64}$/;
const refundTimeoutMs = 10_000;
const send = tracedFetch(sandboxName, (input, init) => fetch(input, init));
const refundAnswer = z.object({
  refund_no: z.string(),
  status: z.enum(['succeeded', 'pending', 'failed']),
  refund_id: z.string().max(128).default(''),
  message: z.string().default(''),
});

/** Calls the refund endpoint of the provider. Throws when the outcome is unknown. */
async function callRefundEndpoint(
  url: string,
  secret: string,
  { payment_amount: _total, ...request }: RefundRequest,
  now: Date,
  signal: AbortSignal,
): Promise<RefundAnswer> {
  const body = JSON.stringify({ provider: sandboxName, ...request, amount: toWire(request.amount) });
  const timestamp = String(Math.trunc(now.getTime() / 1000));
  const response = await send(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signedHeaders(secret, { timestamp, nonce: randomBytes(16).toString('hex'), body }),
    },
    body,
    // Only the server that the operator configured may answer.
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(refundTimeoutMs)]),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the refund endpoint answered HTTP ${response.status}`);
  let parsed: z.output<typeof refundAnswer>;
  try {
    parsed = refundAnswer.parse(JSON.parse(text));
  } catch {
    throw new Error('the refund endpoint did not answer { refund_no, status }');
  }
  if (parsed.refund_no !== request.refund_no) throw new Error('the refund endpoint answered for another refund');
  if (parsed.status === 'pending') throw new Error('the provider has not settled the refund yet');
  // Both texts are stored and shown. A service may quote the key.
  const mask = secretsMask([secret]);
  if (parsed.status === 'failed')
    return { status: 'failed', reason: mask(parsed.message) || 'refused by the provider' };
  return { status: 'succeeded', provider_ref: mask(parsed.refund_id) };
}

/**
 * A provider with the protocol of a payment gateway: the shopper is sent to a cashier page, the outcome arrives as a signed
 * notice, and a refund is a signed call. The other side is a development tool, or a bridge to a payment gateway. Outside
 * production the provider has its own cashier page.
 */
export function sandboxProvider(runtime: ProviderRuntime): RedirectProvider {
  const { settings, config, now } = runtime;
  const secret = () => {
    const value = settings.get(sandboxSecret);
    if (value === '') throw orderErrors.provider_not_ready({ provider: sandboxName, missing: sandboxSecret.key });
    return value;
  };
  const cashier = () => settings.get(sandboxCashierUrl);
  return {
    ready() {
      secret();
      if (config.production && cashier() === '')
        throw orderErrors.provider_not_ready({ provider: sandboxName, missing: sandboxCashierUrl.key });
    },
    payUrl({ payment_no }, site) {
      if (cashier() === '') return `${site}/pay/sandbox/${payment_no}`;
      const url = new URL(cashier());
      url.searchParams.set('payment_no', payment_no);
      return url.toString();
    },
    verify(headers, body) {
      const key = secret();
      const timestamp = headers.get(payHeaders.timestamp) ?? '';
      const nonce = headers.get(payHeaders.nonce) ?? '';
      const signature = headers.get(payHeaders.signature) ?? '';
      if (!/^\d{1,12}$/.test(timestamp) || !nonceForm.test(nonce)) throw orderErrors.signature_invalid();
      if (!isPaySignature(key, { timestamp, nonce, body }, signature)) throw orderErrors.signature_invalid();
      // The timestamp is checked after the signature, so only a caller with the key learns about the clock.
      const age = Math.abs(now().getTime() / 1000 - Number(timestamp));
      if (age > settings.get(signatureSeconds)) throw orderErrors.signature_expired();
      return { nonce };
    },
    async refund(request, signal) {
      const url = settings.get(sandboxRefundUrl);
      if (url !== '') return callRefundEndpoint(url, secret(), request, now(), signal);
      if (config.production) throw new Error(`${sandboxRefundUrl.key} is not set: no money was refunded`);
      return { status: 'succeeded', provider_ref: `SBX-${request.refund_no}` };
    },
    routes: (receive) => (config.production ? [] : cashierRoutes(runtime, receive)),
    resources: config.production ? [] : cashierResources(runtime),
  };
}
