import { randomBytes } from 'node:crypto';
import type { DemoSeed } from '@tradepost/module';
import { demoShop, type Settings } from '@tradepost/runtime';
import { sandboxSecret } from './providers/sandbox/settings.ts';

/**
 * Sets a random key for the payment provider sandbox in a demo shop, so that orders can be paid without further set-up. A fixed
 * key would be public. Other shops get no key.
 */
async function seedPaymentKey(settings: Settings): Promise<void> {
  if (!settings.get(demoShop)) return;
  const isUnset = settings.list().some((row) => row.key === sandboxSecret.key && row.source === 'default');
  if (isUnset) await settings.update(sandboxSecret, (before) => before || randomBytes(32).toString('hex'));
}

export const orderDemo: DemoSeed = { start: ({ settings }) => seedPaymentKey(settings) };
