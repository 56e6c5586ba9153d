import { openAsBlob } from 'node:fs';
import { secretsMask } from '@tradepost/runtime';
import { AwsClient } from 'aws4fetch';
import pLimit from 'p-limit';
import { uploadErrors } from '../../errors.ts';
import type { StorageDriver } from '../driver.ts';

/** Where the objects of a bucket are, and who may write them. Read from the settings at each call. */
export type S3Target = {
  /** The URL of the bucket, without a slash at its end. */
  readonly bucketUrl: string;
  /** The URL before the paths that clients see. */
  readonly publicUrl: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
};

/** The time for an object: at least this, and more for one that is larger than 10 MB at 0.5 MB/s. */
const putMs = 20_000;
const slowestBytesPerMs = 500;
const otherMs = 10_000;
const removesAtOnce = 8;
/** Stored files never change. */
const cacheControl = 'public, max-age=31536000, immutable';

const maxErrorBytes = 8 * 1024;

/** The beginning of the body. The rest is not read: it may be endless, or unpack to gigabytes. */
async function beginningOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= maxErrorBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxErrorBytes).toString('utf8');
}

/** The error of an answer. Its message is logged, so it has no secret, also when the storage quotes one. */
async function failure(response: Response, what: string, secret: string): Promise<Error> {
  // The body of an error is a short XML document with a code such as AccessDenied.
  const text = secretsMask([secret])(await beginningOf(response).catch(() => ''));
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(text)?.[1];
  return new Error(`${what}: HTTP ${response.status}${code ? ` ${code}` : ''}`);
}

/**
 * The URL of a bucket. The servers of the three companies take the bucket as a part of the host name only; other
 * S3-compatible servers are addressed with the bucket in the path, which all of them understand.
 */
export function bucketUrlOf(endpoint: string, bucket: string, companyHosts: RegExp): string {
  const url = new URL(endpoint.includes('://') ? endpoint : `https://${endpoint}`);
  if (!companyHosts.test(url.hostname)) return `${url.origin}/${bucket}`;
  return url.hostname.startsWith(`${bucket}.`) ? url.origin : `${url.protocol}//${bucket}.${url.host}`;
}

/** A driver for a bucket of an S3-compatible storage. `target` throws the refusal that names a missing setting. */
export function openS3(target: () => S3Target): StorageDriver {
  const send = async (path: string, method: string, init: RequestInit & { timeoutMs: number }) => {
    const { bucketUrl, region, accessKey, secretKey } = target();
    const { timeoutMs, ...rest } = init;
    const client = new AwsClient({
      ...{ accessKeyId: accessKey, secretAccessKey: secretKey, service: 's3', region },
      retries: 2,
    });
    // A redirect can turn a PUT into a GET, whose success would say that a file is stored which is not.
    const redirect = 'manual';
    const signal = AbortSignal.timeout(timeoutMs);
    return client.fetch(`${bucketUrl}/${path}`, { method, redirect, signal, ...rest });
  };
  const failed = (response: Response, what: string) => failure(response, what, target().secretKey);
  return {
    ready: () => void target(),
    async put({ file, path, mime, size }) {
      // A Blob has a length and can be read again, so the request has a Content-Length and can be repeated.
      const body = await openAsBlob(file);
      const response = await send(path, 'PUT', {
        body,
        timeoutMs: Math.max(putMs, size / slowestBytesPerMs),
        headers: {
          'content-type': mime,
          'cache-control': cacheControl,
          // As with local files: only images are shown in the browser.
          ...(mime.startsWith('image/') ? {} : { 'content-disposition': 'attachment' }),
          // The storage checks the length. The content is protected by TLS, as with the libraries of the companies.
          'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
        },
      });
      // Every storage answers the ETag of a new object. Without it, something else has answered, such as a proxy.
      if (!response.ok || !response.headers.has('etag')) throw await failed(response, 'the object was not stored');
      await response.body?.cancel();
    },
    async remove(paths) {
      const limit = pLimit(removesAtOnce);
      await Promise.all(
        paths.map((path) =>
          limit(async () => {
            const response = await send(path, 'DELETE', { timeoutMs: otherMs });
            if (!response.ok && response.status !== 404) throw await failed(response, 'an object was not removed');
            await response.body?.cancel();
          }),
        ),
      );
    },
    addressOf: (path) => `${target().publicUrl}/${path}`,
    async check() {
      const response = await send('tradepost-doctor', 'HEAD', { timeoutMs: otherMs });
      // No such object is the expected answer. 403 is the answer to wrong keys, and to keys that may not list objects.
      if (!response.ok && response.status !== 404) throw new Error(`HTTP ${response.status}`);
    },
  };
}

/** The value of a required setting. */
export function required(driver: string, { key }: { key: string }, value: string): string {
  if (value === '') throw uploadErrors.driver_not_ready({ driver, setting: key });
  return value;
}
