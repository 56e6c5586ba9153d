import { type DoctorCheck, developmentArea, type Module } from '@tradepost/module';
import { definePaymentMethod, paymentEndpointCheck, paymentProviders, type RedirectEntry } from '@tradepost/orders';
import { apiUrl, requiredSettings, secretKey, stripeSettings } from './settings.ts';
import { providerName } from './stripe-client.ts';
import { stripeProvider } from './stripe-provider.ts';

const stripeMethod = definePaymentMethod('stripe', { en: 'Stripe', 'zh-CN': 'Stripe' });

const stripeEntry: RedirectEntry = {
  name: providerName,
  kind: 'redirect',
  methods: [stripeMethod],
  channels: ['checkout'],
  account: requiredSettings,
  open: stripeProvider,
};

const sandboxCheck: DoctorCheck = {
  name: 'stripe sandbox',
  area: developmentArea,
  check({ settings }, { error }) {
    if (/^[sr]k_test_/.test(settings.get(secretKey)))
      error(
        'development/payment-sandbox',
        `${secretKey.key} is a key of test mode: payments at Stripe move no money`,
        `tradepost settings set ${secretKey.key}, with the key of live mode, and the webhook secret of live mode too`,
      );
  },
};

export const stripeModule: Module = {
  name: 'stripe',
  needs: ['orders'],
  settings: stripeSettings,
  entries: [paymentProviders.add(stripeEntry)],
  doctorChecks: [sandboxCheck, paymentEndpointCheck('Stripe', apiUrl, ['https://api.stripe.com'])],
};
