import { AppError } from '@tradepost/core';
import type { Resource } from '@tradepost/http';
import type { Settings } from '@tradepost/runtime';
import { orderErrors } from '../../errors.ts';
import { usualPaymentMethods } from '../../orders/payment-methods.ts';
import { payProvider } from '../../settings.ts';
import type {
  InstantEntry,
  NoticeReceivers,
  PaymentProviderEntry,
  ProviderRuntime,
  RedirectEntry,
  RedirectProvider,
} from './provider.ts';

type OpenedRedirect = Required<Pick<RedirectEntry, 'name' | 'kind' | 'methods' | 'channels'>> & RedirectProvider;
type PaymentProvider = Pick<InstantEntry, 'name' | 'kind'> | OpenedRedirect;
/** The payment providers of this shop, by name. */
export type PaymentProviders = ReadonlyMap<string, PaymentProvider>;

/** Opens all payment providers. Throws when two have the same name, or serve the same payment method. */
export function openProviders(runtime: ProviderRuntime, entries: readonly PaymentProviderEntry[]): PaymentProviders {
  const providers = new Map<string, PaymentProvider>();
  const served = new Map<string, string>();
  for (const entry of entries) {
    const { name } = entry;
    if (providers.has(name)) throw new Error(`two modules have the payment provider ${name}`);
    if (entry.kind === 'instant') {
      providers.set(name, { name, kind: entry.kind });
      continue;
    }
    const { kind, methods = [], channels = [''] } = entry;
    for (const method of methods) {
      const other = served.get(method);
      if (other) throw new Error(`the payment providers ${other} and ${name} both serve ${method}`);
      served.set(method, name);
    }
    providers.set(name, { name, kind, methods, channels, ...entry.open(runtime) });
  }
  return providers;
}

/** The providers that send notices. */
export const redirectProviders = (providers: PaymentProviders): OpenedRedirect[] =>
  [...providers.values()].filter((provider) => provider.kind === 'redirect');

/**
 * The endpoints of the providers without an envelope. `receiversOf` is called when a notice arrives, because what processes notices
 * is known after all modules are open.
 */
export const providerResources = (
  providers: PaymentProviders,
  receiversOf: (provider: string) => NoticeReceivers,
): Resource[] =>
  redirectProviders(providers).flatMap((provider) => {
    const receivers: NoticeReceivers = {
      payment: (report) => receiversOf(provider.name).payment(report),
      refund: (report) => receiversOf(provider.name).refund(report),
      refused: (error) => receiversOf(provider.name).refused(error),
    };
    return [...(provider.resources ?? []), ...(provider.notices?.(receivers) ?? [])];
  });

/** Whether a provider is set up. */
export function isReady(provider: Pick<OpenedRedirect, 'ready'>): boolean {
  try {
    provider.ready();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** A provider by its name. A request names one that runs; the setting may name one of a module that is switched off. */
export function providerNamed(providers: PaymentProviders, name: string): PaymentProvider {
  const provider = providers.get(name);
  if (!provider) throw orderErrors.provider_off({ setting: payProvider.key, provider: name });
  return provider;
}

/** How an order is paid at a provider: by the method that its shopper chose, or by that of the provider when it serves others only. */
export function methodAt(provider: PaymentProvider | undefined, chosen: string): string {
  const served = provider?.kind === 'redirect' ? provider.methods : [];
  return served.includes(chosen) ? chosen : (served[0] ?? chosen);
}

/** The payment method of an order whose client names none. */
export const defaultMethod = (providers: PaymentProviders, settings: Pick<Settings, 'get'>): string =>
  methodAt(providers.get(settings.get(payProvider)), usualPaymentMethods[0]!);

/** The provider of an order: the one that serves its payment method, if it is set up; otherwise that of the setting pay.provider. */
export function providerFor(
  providers: PaymentProviders,
  settings: Pick<Settings, 'get'>,
  method: string,
): PaymentProvider {
  const serving = redirectProviders(providers).find(({ methods }) => methods.includes(method));
  return serving && isReady(serving) ? serving : providerNamed(providers, settings.get(payProvider));
}
