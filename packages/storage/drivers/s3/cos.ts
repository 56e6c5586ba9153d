import type { ConfigPage } from '@tradepost/runtime';
import type { StorageDriverEntry } from '../driver.ts';
import { bucketUrlOf } from './bucket.ts';
import { address, hostPart, plain, secretKey, urlOf } from './bucket-settings.ts';
import { openS3, required } from './s3-driver.ts';

const page: ConfigPage = { plugin: 'storage_cos', title: { en: 'Tencent COS', 'zh-CN': '腾讯云 COS' }, sort: 13 };
const region = hostPart('storage_cos.region', 'region of the bucket, such as ap-guangzhou', {
  page: page,
  label: { en: 'Region', 'zh-CN': '地域' },
  required: true,
  placeholder: 'ap-guangzhou',
});
const bucket = hostPart('storage_cos.bucket', 'name of the bucket with its number, such as shop-1250000000', {
  page: page,
  label: { en: 'Bucket', 'zh-CN': '存储桶' },
  required: true,
  placeholder: 'shop-1250000000',
});
const secretId = plain('storage_cos.secret_id', 'id of the secret key', {
  page: page,
  label: { en: 'SecretId', 'zh-CN': 'SecretId' },
  required: true,
});
const secret = secretKey('storage_cos.secret_key', 'secret key', {
  page: page,
  label: { en: 'SecretKey', 'zh-CN': 'SecretKey' },
  required: true,
});
const endpoint = address('storage_cos.endpoint', 'another S3-compatible server; empty: the server of the region');
const domain = address(
  'storage_cos.domain',
  'own domain of the bucket for file URLs; empty: the address of the bucket',
);

export const cosDriver: StorageDriverEntry = {
  name: 'cos',
  aliases: ['storage_cos', 'qcloud_cos'],
  settings: [region, bucket, secretId, secret, endpoint, domain],
  open: ({ settings }) =>
    openS3(() => {
      const of = (setting: typeof bucket) => required('cos', setting, settings.get(setting));
      const host = settings.get(endpoint) || `cos.${of(region)}.myqcloud.com`;
      const bucketUrl = bucketUrlOf(urlOf(host), of(bucket), /\.myqcloud\.com$/);
      return {
        ...{ bucketUrl, publicUrl: urlOf(settings.get(domain) || bucketUrl), region: of(region) },
        ...{ accessKey: of(secretId), secretKey: of(secret) },
      };
    }),
};
