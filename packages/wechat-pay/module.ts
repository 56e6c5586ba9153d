import type { Module } from '@tradepost/module';
import { paymentEndpointCheck, paymentProviders, type RedirectEntry } from '@tradepost/orders';
import { apiUrl, requiredSettings, wechatSettings } from './settings.ts';
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

/** The second site has the same accounts. */
const origins = ['https://api.mch.weixin.qq.com', 'https://api2.mch.weixin.qq.com'];

export const wechatPayModule: Module = {
  name: 'wechat-pay',
  needs: ['orders'],
  settings: wechatSettings,
  entries: [paymentProviders.add(wechatEntry)],
  doctorChecks: [paymentEndpointCheck('WeChat Pay', apiUrl, origins)],
};
