import type {
  InstantEntry,
  PaymentProviderEntry,
  ProviderRuntime,
  RedirectEntry,
  RedirectProvider,
} from './provider.ts';

type PaymentProvider = Pick<InstantEntry, 'name' | 'kind'> | (Pick<RedirectEntry, 'name' | 'kind'> & RedirectProvider);
/** The payment providers of this shop, by name. */
export type PaymentProviders = ReadonlyMap<string, PaymentProvider>;

/** Opens all payment providers. Throws when two have the same name. */
export function openProviders(runtime: ProviderRuntime, entries: readonly PaymentProviderEntry[]): PaymentProviders {
  const providers = new Map<string, PaymentProvider>();
  for (const entry of entries) {
    const { name } = entry;
    if (providers.has(name)) throw new Error(`two modules have the payment provider ${name}`);
    if (entry.kind === 'instant') providers.set(name, { name, kind: entry.kind });
    else providers.set(name, { name, kind: entry.kind, ...entry.open(runtime) });
  }
  return providers;
}

type OpenedRedirect = Extract<PaymentProvider, { kind: 'redirect' }>;

/** The providers that send notices. */
export const redirectProviders = (providers: PaymentProviders): OpenedRedirect[] =>
  [...providers.values()].filter((provider) => provider.kind === 'redirect');
