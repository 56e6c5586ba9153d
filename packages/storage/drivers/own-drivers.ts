import type { StorageDriverEntry } from './driver.ts';
import { localDriver } from './local/local-driver.ts';
import { cosDriver } from './s3/cos.ts';
import { ossDriver } from './s3/oss.ts';
import { qiniuDriver } from './s3/qiniu.ts';

/** The drivers of this package. Modules may add others to `storageDrivers`. */
export const ownDrivers: readonly StorageDriverEntry[] = [localDriver, ossDriver, cosDriver, qiniuDriver];
