import { demoShop, type Runtime } from '@tradepost/runtime';
import { instantPay } from './settings.ts';

/** Whether a shopper may pay an order without money: the setting decides; without it, only a demo shop outside production. */
export function isInstantPaymentOn({ settings, config }: Pick<Runtime, 'settings' | 'config'>): boolean {
  return settings.get(instantPay) ?? (settings.get(demoShop) && !config.production);
}
