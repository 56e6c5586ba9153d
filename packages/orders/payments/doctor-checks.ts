import { type DoctorCheck, type DoctorFacts, developmentArea } from '@tradepost/module';
import { demoShop, type Setting } from '@tradepost/runtime';
import { payProvider } from '../settings.ts';
import { instantPay } from './providers/instant/settings.ts';
import type { PaymentProviderEntry } from './providers/provider.ts';
import { sandboxCashierUrl, sandboxRefundUrl, sandboxSecret } from './providers/sandbox/settings.ts';
import { countFailedRefunds } from './refund-store.ts';

const isSet = (settings: DoctorFacts['settings'], one: Setting<string>) => settings.get(one) !== '';
const accountsOf = (providers: readonly PaymentProviderEntry[]) =>
  providers.flatMap((entry) =>
    entry.kind === 'redirect' && entry.account ? [{ ...entry, account: entry.account }] : [],
  );

/** The settings that the provider in the setting pay.provider lacks. */
const missingOf = (providers: readonly PaymentProviderEntry[], settings: DoctorFacts['settings']): string[] =>
  accountsOf(providers)
    .filter(({ name }) => name === settings.get(payProvider))
    .flatMap(({ account }) => account.filter((one) => !isSet(settings, one)).map(({ key }) => key));

const payment = (providers: readonly PaymentProviderEntry[]): DoctorCheck => ({
  name: 'payments in production',
  area: developmentArea,
  check({ settings }, { error, warning }) {
    const instant = settings.get(instantPay);
    if (instant === true)
      error(
        'development/instant-payment',
        `${instantPay.key} is true: every shopper can mark an order paid without money`,
        `tradepost settings unset ${instantPay.key}`,
      );
    if (settings.get(demoShop) && instant === null)
      error(
        'development/instant-payment-of-demo',
        'the demo seed filled this database: without NODE_ENV=production its shoppers pay without money',
        `start with an empty database, or: tradepost settings set ${instantPay.key} false`,
      );
    if (settings.get(payProvider) === 'instant')
      error(
        'development/instant-provider',
        `${payProvider.key} is instant, which moves no money`,
        `tradepost settings unset ${payProvider.key}`,
      );
    const takesMoney = accountsOf(providers).some(({ account }) => account.every((one) => isSet(settings, one)));
    if (settings.get(sandboxSecret) === '') {
      if (!takesMoney) {
        const missing = missingOf(providers, settings);
        const text = 'no payment provider is set up, so shoppers cannot pay';
        warning(
          'development/no-payment-provider',
          missing.length > 0 ? `${text}; ${settings.get(payProvider)} is chosen: set ${missing.join(', ')}` : text,
          missing.length > 0
            ? missing.map((key) => `tradepost settings set ${key}`).join('; ')
            : 'set up WeChat Pay, Alipay, Stripe or a payment gateway: see docs/OPERATIONS.md',
        );
      }
      return;
    }
    for (const { key } of [sandboxCashierUrl, sandboxRefundUrl].filter((each) => settings.get(each) === ''))
      error(
        'development/sandbox-without-gateway',
        `${sandboxSecret.key} is set and ${key} is not: the sandbox has no payment gateway and moves no money`,
        `with a gateway: tradepost settings set ${key} <url>; without: tradepost settings unset ${sandboxSecret.key}`,
      );
  },
});

/** Finds providers whose account has only some of its settings. Their payments are refused. */
const accounts = (providers: readonly PaymentProviderEntry[]): DoctorCheck => ({
  name: 'payment accounts',
  area: { name: 'payments', sort: 40 },
  check({ settings }, { error }) {
    for (const { name, account } of accountsOf(providers)) {
      const missing = account.filter((one) => !isSet(settings, one));
      if (missing.length === 0 || missing.length === account.length) continue;
      for (const { key } of missing)
        error(
          'payments/set-up-in-part',
          `the payment provider ${name} is set up in part: ${key} is empty`,
          `tradepost settings set ${key}`,
        );
    }
  },
});

/** Finds a provider of a module that is switched off. `providers` are those of the modules that run. */
const payProviderCheck = (providers: readonly PaymentProviderEntry[]): DoctorCheck => ({
  name: 'payment provider',
  area: { name: 'payments', sort: 40 },
  check({ settings }, { error }) {
    const chosen = settings.get(payProvider);
    if (!providers.some(({ name }) => name === chosen))
      error(
        'payments/provider-off',
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
        'refunds/failed',
        `failed refunds, whose money was not paid back: ${failed}`,
        'tradepost pay refunds, then tradepost pay retry-refund',
      );
  },
};

export const paymentDoctorChecks: readonly DoctorCheck[] = [refunds];
/** The checks that depend on the providers of the modules that run. */
export const providerDoctorChecks = (providers: readonly PaymentProviderEntry[]): readonly DoctorCheck[] => [
  payment(providers),
  payProviderCheck(providers),
  accounts(providers),
];
