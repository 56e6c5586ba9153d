import { randomBytes } from 'node:crypto';
import type { DemoSeed } from '@tradepost/module';
import { demoShop, type Settings } from '@tradepost/runtime';
import { sandboxSecret } from './providers/sandbox/settings.ts';

/**
 * Gives a demo shop a random key of the payment sandbox, so that orders can be paid at once. A fixed key would be known to
 * everyone. Other shops get none.
 */
async function seedPaymentKey(settings: Settings): Promise<void> {
  if (!settings.get(demoShop)) return;
  const untouched = settings.list().some((row) => row.key === sandboxSecret.key && row.source === 'default');
  if (untouched) await settings.update(sandboxSecret, (before) => before || randomBytes(32).toString('hex'));
}

export const orderDemo: DemoSeed = { start: ({ settings }) => seedPaymentKey(settings) };
