import type { Runtime } from '@tradepost/runtime';
import type { PaymentProviders } from './provider.ts';
import { sandboxProvider } from './sandbox.ts';

/** Every provider of this shop. Settings are read at each call, so a change needs no restart. */
export function openProviders(runtime: Pick<Runtime, 'settings' | 'config' | 'now'>): PaymentProviders {
  return { instant: { kind: 'instant', name: 'instant' }, sandbox: sandboxProvider(runtime) };
}
