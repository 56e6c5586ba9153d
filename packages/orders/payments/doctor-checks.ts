import { type DoctorCheck, developmentArea } from '@tradepost/module';
import { demoShop } from '@tradepost/runtime';
import { payProvider } from '../settings.ts';
import { instantPay } from './providers/instant/settings.ts';
import { sandboxCashierUrl, sandboxRefundUrl, sandboxSecret } from './providers/sandbox/settings.ts';

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
        `begin with an empty database, or tradepost settings set ${instantPay.key} false`,
      );
    if (settings.get(payProvider) === 'instant')
      error(`${payProvider.key} is instant, which moves no money`, `tradepost settings unset ${payProvider.key}`);
    if (settings.get(sandboxSecret) === '') {
      warning(
        `no payment provider is set up: ${sandboxSecret.key} is empty, so nobody can pay`,
        'connect a gateway: packages/orders/README.md says how',
      );
      return;
    }
    for (const { key } of [sandboxCashierUrl, sandboxRefundUrl].filter((each) => settings.get(each) === ''))
      error(
        `${sandboxSecret.key} is set and ${key} is not: the sandbox is a development provider, no gateway stands behind it`,
        `tradepost settings set ${key} <url> where one does, else tradepost settings unset ${sandboxSecret.key}`,
      );
  },
};

export const paymentDoctorChecks: readonly DoctorCheck[] = [payment];
