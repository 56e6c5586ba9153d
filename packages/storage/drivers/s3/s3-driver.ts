import { openAsBlob } from 'node:fs';
import { uploadErrors } from '../../errors.ts';
import type { StorageDriver } from '../driver.ts';
import { type BucketTarget, openBucket } from './bucket.ts';

/** Where the objects of a bucket are, and who may write them. Read from the settings at each call. */
export type S3Target = BucketTarget & {
  /** The URL before the paths that clients see. */
  readonly publicUrl: string;
};

/** Stored files never change. */
const cacheControl = 'public, max-age=31536000, immutable';

/** A driver for a bucket of an S3-compatible storage. `target` throws the refusal that names a missing setting. */
export function openS3(target: () => S3Target): StorageDriver {
  const bucket = openBucket(target);
  return {
    ready: () => void target(),
    async put({ file, path, mime, size }) {
      await bucket.put({
        ...{ path, size, body: await openAsBlob(file) },
        headers: {
          'content-type': mime,
          'cache-control': cacheControl,
          // As with local files: only images are shown in the browser.
          ...(mime.startsWith('image/') ? {} : { 'content-disposition': 'attachment' }),
        },
      });
    },
    read: async (path) => (await bucket.get(path))?.content ?? null,
    has: async (path) => (await bucket.sizeOf(path)) !== null,
    remove: (paths) => bucket.remove(paths),
    addressOf: (path) => `${target().publicUrl}/${path}`,
    check: () => bucket.check(),
  };
}

/** The value of a required setting. */
export function required(driver: string, { key }: { key: string }, value: string): string {
  if (value === '') throw uploadErrors.driver_not_ready({ driver, setting: key });
  return value;
}
