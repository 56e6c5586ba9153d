import { optionalAddress, optionalAddressRule, rsaKeyRule, rsaKeyText } from '@tradepost/orders';
import { rsaPrivateKey, rsaPublicKey } from '@tradepost/outbound-http';
import { type ConfigPage, isHttpAddress, setting } from '@tradepost/runtime';
import { z } from 'zod';

const page: ConfigPage = { plugin: 'wechat_pay', title: { en: 'WeChat Pay', 'zh-CN': '微信支付' }, sort: 41 };
const key = (name: string) => `wechat_pay.${name}`;
const short = () => z.string().trim().max(200);

export const appId = setting(key('app_id'), short(), '', 'app id at WeChat of the shop', {
  field: { page, label: { en: 'App ID', 'zh-CN': '应用 ID' }, sort: 1, required: true },
});
export const mchId = setting(key('mch_id'), short(), '', 'merchant number at WeChat Pay', {
  field: { page, label: { en: 'Merchant ID', 'zh-CN': '商户号' }, sort: 2, required: true },
});
const apiKey = setting(
  key('api_key'),
  z.string().max(200),
  '',
  'key of API v2; API v3, which the shop uses, does not need it',
  {
    secret: true,
    field: { page, label: { en: 'API v2 key (not used)', 'zh-CN': 'APIv2 密钥（未使用）' }, sort: 7 },
  },
);
export const serialNo = setting(
  key('serial_no'),
  short().regex(/^[0-9A-Fa-f]*$/, { error: 'must be hexadecimal' }),
  '',
  'serial number of the API certificate of the merchant',
  {
    field: { page, label: { en: 'Certificate serial number', 'zh-CN': '商户证书序列号' }, sort: 3, required: true },
  },
);
export const privateKey = setting(
  key('private_key'),
  rsaKeyText(rsaPrivateKey),
  '',
  'private key of the API certificate of the merchant (apiclient_key.pem)',
  {
    secret: true,
    field: { page, label: { en: 'Private key', 'zh-CN': '商户私钥' }, sort: 4, required: true, rule: rsaKeyRule },
  },
);
const v3KeyRule = { en: 'must have 32 characters', 'zh-CN': '须为 32 个字符' };
export const apiV3Key = setting(
  key('api_v3_key'),
  z.string().refine((text) => text === '' || Buffer.byteLength(text) === 32, { error: v3KeyRule.en }),
  '',
  'key of API v3, which decrypts notices and platform certificates',
  {
    secret: true,
    field: { page, label: { en: 'API v3 key', 'zh-CN': 'APIv3 密钥' }, sort: 5, required: true, rule: v3KeyRule },
  },
);
export const notifyUrl = setting(
  key('notify_url'),
  optionalAddress(),
  '',
  'address to which WeChat Pay sends notices; empty: PUBLIC_URL with /api/v1/notify/wechat',
  { field: { page, label: { en: 'Notify URL', 'zh-CN': '通知地址' }, sort: 6, rule: optionalAddressRule } },
);
export const publicKeyId = setting(
  key('public_key_id'),
  short(),
  '',
  'id of the public key of WeChat Pay (PUB_KEY_ID_...), for merchants without platform certificates',
  { field: { page, label: { en: 'Public key ID', 'zh-CN': '微信支付公钥 ID' }, sort: 8 } },
);
export const publicKey = setting(
  key('public_key'),
  rsaKeyText(rsaPublicKey),
  '',
  'public key of WeChat Pay, for merchants without platform certificates',
  { field: { page, label: { en: 'Public key', 'zh-CN': '微信支付公钥' }, sort: 9, multiline: true, rule: rsaKeyRule } },
);
/** Only operators change it: a shop that sends its requests elsewhere loses its money. */
export const apiUrl = setting(
  key('api_url'),
  z.string().max(255).refine(isHttpAddress, { error: 'must be an http or https address' }),
  'https://api.mch.weixin.qq.com',
  'address of WeChat Pay; another one is for tests and for its second site',
);

export const wechatSettings = [
  ...[appId, mchId, serialNo, privateKey, apiV3Key, notifyUrl, apiKey, publicKeyId, publicKey, apiUrl],
] as const;
/** Without these the provider is refused. */
export const requiredSettings = [appId, mchId, serialNo, privateKey, apiV3Key] as const;
