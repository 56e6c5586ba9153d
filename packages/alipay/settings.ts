import { optionalAddress, optionalAddressRule, rsaKeyRule, rsaKeyText } from '@tradepost/orders';
import { rsaPrivateKey, rsaPublicKey } from '@tradepost/outbound-http';
import { type ConfigPage, setting } from '@tradepost/runtime';
import { z } from 'zod';

const page: ConfigPage = { plugin: 'alipay', title: { en: 'Alipay', 'zh-CN': '支付宝' }, sort: 42 };
const key = (name: string) => `alipay.${name}`;

export const appId = setting(key('app_id'), z.string().trim().max(64), '', 'app id at the open platform of Alipay', {
  field: { page, label: { en: 'App ID', 'zh-CN': '应用 ID' }, sort: 1, required: true },
});
export const privateKey = setting(
  key('private_key'),
  rsaKeyText(rsaPrivateKey),
  '',
  'private key of the app, which signs requests (RSA2)',
  {
    secret: true,
    field: { page, label: { en: 'Private key', 'zh-CN': '应用私钥' }, sort: 2, required: true, rule: rsaKeyRule },
  },
);
export const publicKey = setting(
  key('public_key'),
  rsaKeyText(rsaPublicKey),
  '',
  'public key of Alipay (not that of the app), which verifies answers and notices',
  {
    field: {
      ...{ page, label: { en: 'Alipay public key', 'zh-CN': '支付宝公钥' }, sort: 3, required: true },
      ...{ multiline: true, rule: rsaKeyRule },
    },
  },
);
export const sandbox = setting(
  key('sandbox'),
  z.boolean(),
  false,
  'whether payments go to the sandbox of Alipay, without money',
  {
    field: { page, label: { en: 'Sandbox', 'zh-CN': '沙箱环境' }, sort: 4 },
  },
);
export const notifyUrl = setting(
  key('notify_url'),
  optionalAddress(),
  '',
  'address to which Alipay sends notices; empty: PUBLIC_URL with /api/v1/notify/alipay',
  { field: { page, label: { en: 'Notify URL', 'zh-CN': '通知地址' }, sort: 5, rule: optionalAddressRule } },
);
/** Only operators change it: a shop that sends its shoppers elsewhere loses its money. */
export const gatewayUrl = setting(
  key('gateway_url'),
  optionalAddress(),
  '',
  'address of the gateway of Alipay, for tests; empty: the gateway of Alipay, or of its sandbox',
);

export const alipaySettings = [appId, privateKey, publicKey, sandbox, notifyUrl, gatewayUrl] as const;
/** Without these the provider is refused. */
export const requiredSettings = [appId, privateKey, publicKey] as const;
