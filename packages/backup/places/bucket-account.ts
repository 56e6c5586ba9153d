import type { SettingReader } from '@tradepost/module';
import { s3Endpoint, s3KeyId, s3Region, s3Secret } from '../schedule/settings.ts';
import type { BucketAccount } from './bucket-place.ts';

/**
 * The account of the bucket for backups: the usual variables of S3 programs, otherwise the settings. A restore has no settings:
 * its database is empty.
 */
export const bucketAccount = (settings: SettingReader) => (): BucketAccount => {
  const {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secretKey,
  } = process.env;
  return {
    endpoint: endpoint || settings.get(s3Endpoint),
    region: region || settings.get(s3Region),
    accessKey: accessKey || settings.get(s3KeyId),
    secretKey: secretKey || settings.get(s3Secret),
  };
};
