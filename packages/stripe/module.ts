import type { Module } from '@tradepost/module';
import { definePaymentMethod, paymentProviders, type RedirectEntry } from '@tradepost/orders';
import { requiredSettings, stripeSettings } from './settings.ts';
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

export const stripeModule: Module = {
  name: 'stripe',
  needs: ['orders'],
  settings: stripeSettings,
  entries: [paymentProviders.add(stripeEntry)],
};
