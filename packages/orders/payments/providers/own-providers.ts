import { instantEntry } from './instant/instant-entry.ts';
import type { PaymentProviderEntry } from './provider.ts';
import { sandboxEntry } from './sandbox/sandbox-entry.ts';

/** The payment providers of this package. Other packages add their providers to `paymentProviders`. */
export const ownProviders: readonly PaymentProviderEntry[] = [sandboxEntry, instantEntry];
