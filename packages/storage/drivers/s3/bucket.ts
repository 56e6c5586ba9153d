import { setTimeout as sleep } from 'node:timers/promises';
import { secretsMask } from '@tradepost/runtime';
import { AwsClient } from 'aws4fetch';
import pLimit from 'p-limit';

/** Where the objects of a bucket are, and who may write them. */
export type BucketTarget = {
  /** The URL of the bucket, without a slash at its end. */
  readonly bucketUrl: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
};

type NewObject = {
  readonly path: string;
  /** It has a length and can be read again, so the request has a Content-Length and can be repeated. */
  readonly body: Blob | Uint8Array<ArrayBuffer>;
  readonly size: number;
  readonly headers: Readonly<Record<string, string>>;
};

/** The objects of a bucket. Every call rejects with a message that has no secret. */
export type Bucket = {
  /** Writes an object, whole or not at all. */
  put(object: NewObject): Promise<void>;
  /** The content and the length of an object, or null when it does not exist. */
  get(path: string): Promise<{ size: number; content: AsyncIterable<Uint8Array> } | null>;
  /** The length of an object, or null when it does not exist. */
  sizeOf(path: string): Promise<number | null>;
  /** Removes objects. A path without an object is no error. */
  remove(paths: readonly string[]): Promise<void>;
  /** The objects whose paths begin with `prefix`, in the order of their paths. */
  list(prefix: string): AsyncGenerator<{ path: string; size: number }>;
  /** Throws when the bucket does not answer, or not with these keys. */
  check(): Promise<void>;
};

/** How often a call is made while the storage is busy or not reached. Pauses are random, and their limit doubles each time. */
type Retries = {
  readonly attempts: number;
  readonly firstPauseMs: number;
  /** Also a call whose connection failed, or ended before the answer. */
  readonly ofConnections?: boolean;
};
/** A shopper waits for an upload. */
const shortRetries: Retries = { attempts: 3, firstPauseMs: 50 };

/** The time for an object: at least this, and more for one that is larger than 10 MB at 0.5 MB/s. */
const objectMs = 20_000;
const slowestBytesPerMs = 500;
const otherMs = 10_000;
const removesAtOnce = 8;
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
 * The URL of a bucket. The servers of the companies take the bucket as a part of the host name only; other S3-compatible servers
 * are addressed with the bucket in the path, which all of them understand.
 */
export function bucketUrlOf(endpoint: string, bucket: string, companyHosts: RegExp): string {
  const url = new URL(endpoint.includes('://') ? endpoint : `https://${endpoint}`);
  if (!companyHosts.test(url.hostname)) return `${url.origin}/${bucket}`;
  return url.hostname.startsWith(`${bucket}.`) ? url.origin : `${url.protocol}//${bucket}.${url.host}`;
}

const timeFor = (size: number) => Math.max(objectMs, size / slowestBytesPerMs);

type Send = (path: string, method: string, init: RequestInit & { timeoutMs: number }) => Promise<Response>;
type Failed = (response: Response, what: string) => Promise<Error>;

async function* listObjects(send: Send, failed: Failed, prefix: string) {
  for (let token: string | undefined = ''; token !== undefined; ) {
    const query = new URLSearchParams({ 'list-type': '2', prefix, ...(token && { 'continuation-token': token }) });
    const response = await send(`?${query}`, 'GET', { timeoutMs: otherMs });
    if (!response.ok) throw await failed(response, 'the objects of the bucket were not listed');
    const text = await response.text();
    for (const [, entry = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const path = /<Key>([^<]*)<\/Key>/.exec(entry)?.[1];
      const size = Number(/<Size>(\d+)<\/Size>/.exec(entry)?.[1]);
      if (path && Number.isSafeInteger(size)) yield { path, size };
    }
    token = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(text)?.[1];
  }
}

/** 429 and 5xx: the storage asks to come back. */
const isBusy = ({ status }: Response) => status === 429 || status >= 500;

/** Makes a call until it is answered, up to `attempts` times. A call that has used up its time is not repeated. */
async function repeat(
  { attempts, firstPauseMs, ofConnections }: Retries,
  call: () => Promise<Response>,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await call();
      if (attempt === attempts || !isBusy(response)) return response;
      await response.body?.cancel();
    } catch (error) {
      if (attempt === attempts || !ofConnections || !(error instanceof TypeError)) throw error;
    }
    await sleep(Math.random() * firstPauseMs * 2 ** (attempt - 1));
  }
}

/** The objects of a bucket of an S3-compatible storage. `target` is read at each call. */
export function openBucket(target: () => BucketTarget, retries = shortRetries): Bucket {
  const send: Send = async (path, method, { timeoutMs, ...rest }) => {
    const { bucketUrl, region, accessKey, secretKey } = target();
    const client = new AwsClient({
      ...{ accessKeyId: accessKey, secretAccessKey: secretKey, service: 's3', region },
      retries: 0,
    });
    // A redirect can turn a PUT into a GET, whose success would say that a file is stored which is not.
    const redirect = 'manual';
    return repeat(retries, () =>
      client.fetch(`${bucketUrl}/${path}`, { method, redirect, signal: AbortSignal.timeout(timeoutMs), ...rest }),
    );
  };
  const failed: Failed = (response, what) => failure(response, what, target().secretKey);
  return {
    async put({ path, body, size, headers }) {
      const response = await send(path, 'PUT', {
        body,
        timeoutMs: timeFor(size),
        // The storage checks the length. The content is protected by TLS, as with the libraries of the companies.
        headers: { ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
      });
      // Every storage answers the ETag of a new object. Without it, something else has answered, such as a proxy.
      if (!response.ok || !response.headers.has('etag')) throw await failed(response, 'the object was not stored');
      await response.body?.cancel();
    },
    async get(path) {
      const size = await this.sizeOf(path);
      if (size === null) return null;
      const response = await send(path, 'GET', { timeoutMs: timeFor(size) });
      if (response.status === 404) return null;
      if (!response.ok || !response.body) throw await failed(response, 'the object was not read');
      return { size, content: response.body };
    },
    async sizeOf(path) {
      const response = await send(path, 'HEAD', { timeoutMs: otherMs });
      if (response.status === 404) return null;
      if (!response.ok) throw await failed(response, 'the object was not found');
      return Number(response.headers.get('content-length') ?? 0);
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
    list: (prefix) => listObjects(send, failed, prefix),
    async check() {
      const response = await send('tradepost-doctor', 'HEAD', { timeoutMs: otherMs });
      // No such object is the expected answer. 403 is the answer to wrong keys, and to keys that may not list objects.
      if (!response.ok && response.status !== 404) throw new Error(`HTTP ${response.status}`);
    },
  };
}
