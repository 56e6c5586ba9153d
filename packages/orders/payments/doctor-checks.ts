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

export const paymentDoctorChecks: readonly DoctorCheck[] = [payment];
