import { demoShop, type Runtime } from '@tradepost/runtime';
import { instantPay } from './settings.ts';

/** Whether a shopper may settle an order without money: where an operator says so, else in a demo shop outside production. */
export function isInstantPaymentOn({ settings, config }: Pick<Runtime, 'settings' | 'config'>): boolean {
  return settings.get(instantPay) ?? (settings.get(demoShop) && !config.production);
}
