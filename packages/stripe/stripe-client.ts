import { openGuardedFetch, openPartnerGuard } from '@tradepost/outbound-http';
import { type Settings, tracedFetch } from '@tradepost/runtime';
import type Stripe from 'stripe';
import { apiUrl, secretKey } from './settings.ts';

export const providerName = 'stripe';
const timeoutMs = 10_000;
const maxAnswerBytes = 8 * 1024 * 1024;

export type StripeClients = ReturnType<typeof openStripeClients>;

/**
 * The client of the SDK with the current settings. The SDK is loaded at the first use: commands and shops without Stripe do not
 * need it.
 */
export function openStripeClients(settings: Pick<Settings, 'get'>) {
  const net = openGuardedFetch(openPartnerGuard(), { connectMs: 5_000, maxAnswerBytes, connectionsPerOrigin: 16 });
  let made: { key: string; client: Stripe } | null = null;
  return {
    async client(): Promise<Stripe> {
      const { default: StripeClient } = await import('stripe');
      const { hostname, port, protocol } = new URL(settings.get(apiUrl));
      const apiKey = settings.get(secretKey);
      const key = `${protocol}//${hostname}:${port} ${apiKey}`;
      if (made?.key === key) return made.client;
      const client = new StripeClient(apiKey, {
        ...{ host: hostname, port: port || (protocol === 'https:' ? 443 : 80), timeout: timeoutMs, telemetry: false },
        protocol: protocol === 'https:' ? 'https' : 'http',
        httpClient: StripeClient.createFetchHttpClient(tracedFetch(providerName, net.fetch)),
        // Repeats are those of the shop: refunds are jobs, and a shopper asks again.
        maxNetworkRetries: 0,
      });
      made = { key, client };
      return client;
    },
    close: net.close,
  };
}

/** Whether an error of the SDK says that Stripe refused the request, and would refuse a repeat. */
export function isRefusal(error: unknown): error is Error & { code?: string } {
  const { type } = (error ?? {}) as { type?: unknown };
  return type === 'StripeInvalidRequestError' || type === 'StripeCardError';
}
export const isMissing = (error: unknown): boolean => isRefusal(error) && error.code === 'resource_missing';
