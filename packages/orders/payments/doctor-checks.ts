import { type DoctorCheck, developmentArea } from '@tradepost/module';
import { demoShop } from '@tradepost/runtime';
import { payProvider } from '../settings.ts';
import { instantPay } from './providers/instant/settings.ts';
import type { PaymentProviderEntry } from './providers/provider.ts';
import { sandboxCashierUrl, sandboxRefundUrl, sandboxSecret } from './providers/sandbox/settings.ts';
import { countFailedRefunds } from './refund-store.ts';

const payment: DoctorCheck = {
  area: developmentArea,
  check({ settings }, { error, warning }) {
    const instant = settings.get(instantPay);
    if (instant === true)
      error(
        `${instantPay.key} is true: every shopper can mark an order paid without money`,
        `tradepost settings unset ${instantPay.key}`,
      );
    if (settings.get(demoShop) && instant === null)
      error(
        'the demo seed filled this database: without NODE_ENV=production its shoppers pay without money',
        `start with an empty database, or: tradepost settings set ${instantPay.key} false`,
      );
    if (settings.get(payProvider) === 'instant')
      error(`${payProvider.key} is instant, which moves no money`, `tradepost settings unset ${payProvider.key}`);
    if (settings.get(sandboxSecret) === '') {
      warning(
        `no payment provider is set up: ${sandboxSecret.key} is empty, so shoppers cannot pay`,
        'connect a payment gateway: see packages/orders/README.md',
      );
      return;
    }
    for (const { key } of [sandboxCashierUrl, sandboxRefundUrl].filter((each) => settings.get(each) === ''))
      error(
        `${sandboxSecret.key} is set and ${key} is not: the sandbox has no payment gateway and moves no money`,
        `with a gateway: tradepost settings set ${key} <url>; without: tradepost settings unset ${sandboxSecret.key}`,
      );
  },
};

/** Finds a provider of a module that is switched off. `providers` are those of the modules that run. */
export const payProviderCheck = (providers: readonly PaymentProviderEntry[]): DoctorCheck => ({
  name: 'payment provider',
  area: { name: 'payments', sort: 40 },
  check({ settings }, { error }) {
    const chosen = settings.get(payProvider);
    if (!providers.some(({ name }) => name === chosen))
      error(
        `${payProvider.key} names ${chosen}, whose module is switched off: payments without a named provider are refused`,
        `switch the module on, or tradepost settings set ${payProvider.key} ${providers.map(({ name }) => name).join(' or ')}`,
      );
  },
});

const refunds: DoctorCheck = {
  area: { name: 'refunds', sort: 47 },
  async check({ sql }, { warning }) {
    const failed = await countFailedRefunds(sql);
    if (failed > 0)
      warning(
        `failed refunds, whose money was not paid back: ${failed}`,
        'tradepost pay refunds, then tradepost pay retry-refund',
      );
  },
};

export const paymentDoctorChecks: readonly DoctorCheck[] = [payment, refunds];
