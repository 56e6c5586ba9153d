import type { ConfigPage } from '@tradepost/runtime';
import type { StorageDriverEntry } from '../driver.ts';
import { bucketUrlOf } from './bucket.ts';
import { address, hostPart, plain, secretKey, urlOf } from './bucket-settings.ts';
import { openS3, required } from './s3-driver.ts';

const page: ConfigPage = { plugin: 'storage_oss', title: { en: 'Aliyun OSS', 'zh-CN': '阿里云 OSS' }, sort: 12 };
const companyHost = /^(?:[\w-]+\.)*oss-[a-z0-9-]+\.aliyuncs\.com$/;
const endpoint = address(
  'storage_oss.endpoint',
  'endpoint of the bucket, such as oss-cn-hangzhou.aliyuncs.com; another S3-compatible server is possible',
  {
    page: page,
    label: { en: 'Endpoint', 'zh-CN': '接口地址' },
    required: true,
    placeholder: 'oss-cn-hangzhou.aliyuncs.com',
    // Addresses of the company beside the bucket (-internal) are not public.
    serviceAddress: { trusted: companyHost },
  },
);
const bucket = hostPart('storage_oss.bucket', 'name of the bucket', {
  page: page,
  label: { en: 'Bucket', 'zh-CN': '存储桶' },
  required: true,
});
const keyId = plain('storage_oss.access_key_id', 'id of the access key', {
  page: page,
  label: { en: 'AccessKey ID', 'zh-CN': 'AccessKey ID' },
  required: true,
});
const keySecret = secretKey('storage_oss.access_key_secret', 'secret of the access key', {
  page: page,
  label: { en: 'AccessKey secret', 'zh-CN': 'AccessKey Secret' },
  required: true,
});
const domain = address(
  'storage_oss.domain',
  'own domain of the bucket for file URLs; empty: the address of the bucket',
);

/** The endpoint for the S3 protocol has `s3.` before the usual name. Other servers have the address that was given. */
const withProtocol = (value: string) => urlOf(value).replace(/:\/\/(?=oss-[a-z0-9-]+\.aliyuncs\.com\b)/, '://s3.');
/** `cn-hangzhou` of `s3.oss-cn-hangzhou-internal.aliyuncs.com`. */
const regionIn = (value: string) => /oss-([a-z0-9-]+?)(-internal)?\.aliyuncs\.com/.exec(value)?.[1] ?? 'us-east-1';

export const ossDriver: StorageDriverEntry = {
  name: 'oss',
  aliases: ['storage_oss', 'aliyun_oss'],
  settings: [endpoint, bucket, keyId, keySecret, domain],
  open: ({ settings }) =>
    openS3(() => {
      const of = (setting: typeof bucket) => required('oss', setting, settings.get(setting));
      const given = of(endpoint);
      const bucketUrl = bucketUrlOf(withProtocol(given), of(bucket), /\.aliyuncs\.com$/);
      // Browsers use the public endpoint, also where the shop is beside the bucket.
      const seen = bucketUrl.replace('-internal.aliyuncs.com', '.aliyuncs.com').replace('.s3.oss-', '.oss-');
      return {
        ...{ bucketUrl, publicUrl: urlOf(settings.get(domain) || seen), region: regionIn(given) },
        ...{ accessKey: of(keyId), secretKey: of(keySecret) },
      };
    }),
};
