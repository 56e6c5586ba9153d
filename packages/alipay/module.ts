import { type DoctorCheck, developmentArea, type Module } from '@tradepost/module';
import { paymentEndpointCheck, paymentProviders, type RedirectEntry } from '@tradepost/orders';
import { providerName } from './alipay-api.ts';
import { alipayChannels, alipayProvider } from './alipay-provider.ts';
import { alipaySettings, gatewayUrl, requiredSettings, sandbox } from './settings.ts';

const alipayEntry: RedirectEntry = {
  name: providerName,
  kind: 'redirect',
  methods: ['alipay'],
  channels: alipayChannels,
  account: requiredSettings,
  open: alipayProvider,
};

const sandboxCheck: DoctorCheck = {
  name: 'alipay sandbox',
  area: developmentArea,
  check({ settings }, { error }) {
    if (settings.get(sandbox))
      error(
        'development/alipay-sandbox',
        `${sandbox.key} is true: payments at Alipay move no money`,
        `tradepost settings unset ${sandbox.key}`,
      );
  },
};

export const alipayModule: Module = {
  name: 'alipay',
  needs: ['orders'],
  settings: alipaySettings,
  entries: [paymentProviders.add(alipayEntry)],
  doctorChecks: [sandboxCheck, paymentEndpointCheck('Alipay', gatewayUrl, ['https://openapi.alipay.com'])],
};
