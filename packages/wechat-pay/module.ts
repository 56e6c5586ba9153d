import type { Module } from '@tradepost/module';
import { paymentProviders, type RedirectEntry } from '@tradepost/orders';
import { requiredSettings, wechatSettings } from './settings.ts';
import { providerName } from './wechat-api.ts';
import { wechatChannels, wechatProvider } from './wechat-provider.ts';

const wechatEntry: RedirectEntry = {
  name: providerName,
  kind: 'redirect',
  methods: ['wechat'],
  channels: wechatChannels,
  account: requiredSettings,
  open: wechatProvider,
};

export const wechatPayModule: Module = {
  name: 'wechat-pay',
  needs: ['orders'],
  settings: wechatSettings,
  entries: [paymentProviders.add(wechatEntry)],
};
