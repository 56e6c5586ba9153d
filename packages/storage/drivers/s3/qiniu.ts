import type { ConfigPage } from '@tradepost/runtime';
import type { StorageDriverEntry } from '../driver.ts';
import { bucketUrlOf } from './bucket.ts';
import { address, hostPart, plain, secretKey, urlOf } from './bucket-settings.ts';
import { openS3, required } from './s3-driver.ts';

const page: ConfigPage = { plugin: 'storage_qiniu', title: { en: 'Qiniu Kodo', 'zh-CN': '七牛云 Kodo' }, sort: 14 };
const zone = hostPart('storage_qiniu.zone', 'zone of the bucket: z0, z1, z2, na0, as0, or the name of a region', {
  page: page,
  label: { en: 'Zone', 'zh-CN': '区域' },
  required: true,
  placeholder: 'z0',
});
const bucket = hostPart('storage_qiniu.bucket', 'name of the bucket', {
  page: page,
  label: { en: 'Bucket', 'zh-CN': '存储空间' },
  required: true,
});
const accessKey = plain('storage_qiniu.access_key', 'access key', {
  page: page,
  label: { en: 'AccessKey', 'zh-CN': 'AccessKey' },
  required: true,
});
const secret = secretKey('storage_qiniu.secret_key', 'secret key', {
  page: page,
  label: { en: 'SecretKey', 'zh-CN': 'SecretKey' },
  required: true,
});
const domain = address('storage_qiniu.domain', 'domain of the bucket for file URLs', {
  page: page,
  label: { en: 'Domain', 'zh-CN': '访问域名' },
  required: true,
});
const endpoint = address('storage_qiniu.endpoint', 'another S3-compatible server; empty: the server of the zone');

/** The S3 protocol has names of regions for the zones. */
const regions: Readonly<Record<string, string>> = {
  z0: 'cn-east-1',
  z1: 'cn-north-1',
  z2: 'cn-south-1',
  na0: 'us-north-1',
  as0: 'ap-southeast-1',
};

export const qiniuDriver: StorageDriverEntry = {
  name: 'qiniu',
  aliases: ['storage_qiniu', 'qiniu_kodo'],
  settings: [zone, bucket, accessKey, secret, domain, endpoint],
  open: ({ settings }) =>
    openS3(() => {
      const of = (setting: typeof bucket) => required('qiniu', setting, settings.get(setting));
      const region = regions[of(zone)] ?? of(zone);
      const host = settings.get(endpoint) || `s3.${region}.qiniucs.com`;
      return {
        ...{ bucketUrl: bucketUrlOf(urlOf(host), of(bucket), /\.qiniucs\.com$/), region },
        // A bucket has no public address without a domain.
        publicUrl: urlOf(of(domain)),
        ...{ accessKey: of(accessKey), secretKey: of(secret) },
      };
    }),
};
