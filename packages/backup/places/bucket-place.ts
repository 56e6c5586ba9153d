import { type Bucket, bucketUrlOf, openBucket } from '@tradepost/storage';
import { backupErrors } from '../errors.ts';
import { manifestEntry } from '../format/manifest.ts';
import { isBackupName, sourceIn } from '../format/names.ts';
import { newestFirst, type Place, type StoredBackup } from './place.ts';

/** The account of a bucket. An empty text means not set. */
export type BucketAccount = {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
};

/** A backup takes long, and a bucket that is busy for some seconds must not end it. */
const retries = { attempts: 5, firstPauseMs: 400, ofConnections: true };
/** A connection can end in the middle of an object. */
const readAttempts = 3;

/** Hosts that take the bucket as a part of the host name. */
const companyHosts = /\.(amazonaws\.com|aliyuncs\.com|myqcloud\.com|qiniucs\.com)$/;

function bucketOf(bucket: string, account: () => BucketAccount): Bucket {
  return openBucket(() => {
    const { endpoint, region, accessKey, secretKey } = account();
    const missing = [
      ...(accessKey ? [] : ['AWS_ACCESS_KEY_ID or backup.s3_access_key_id']),
      ...(secretKey ? [] : ['AWS_SECRET_ACCESS_KEY or backup.s3_secret_key']),
    ];
    if (missing.length > 0) throw backupErrors.bucket_not_ready({ missing: missing.join(', ') });
    const bucketUrl = bucketUrlOf(endpoint || `https://s3.${region}.amazonaws.com`, bucket, companyHosts);
    return { bucketUrl, region, accessKey, secretKey };
  }, retries);
}

async function readAll(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The content of an object, or null when it does not exist. It is read again when the connection ends in the middle. */
async function readObject(bucket: Bucket, path: string): Promise<Buffer | null> {
  for (let attempt = 1; ; attempt += 1) {
    const object = await bucket.get(path);
    if (!object) return null;
    try {
      return await readAll(object.content);
    } catch (error) {
      if (attempt === readAttempts) throw error;
    }
  }
}

/**
 * The prefix of a bucket. A backup is a folder of objects, one for each part. The manifest is written last, so a backup without
 * one is not complete.
 */
export function bucketPlace(bucketName: string, prefix: string, account: () => BucketAccount): Place {
  const bucket = bucketOf(bucketName, account);
  const base = prefix === '' ? '' : `${prefix}/`;
  const locationOf = (name: string) => `s3://${bucketName}/${base}${name}`;

  /** The lengths of the objects of each backup. */
  const objectsByName = async (within: string): Promise<Map<string, Map<string, number>>> => {
    const found = new Map<string, Map<string, number>>();
    for await (const { path, size } of bucket.list(base + within)) {
      const [name = '', entry = '', ...deeper] = path.slice(base.length).split('/');
      if (!isBackupName(name) || entry === '' || deeper.length > 0) continue;
      const entries = found.get(name) ?? new Map<string, number>();
      found.set(name, entries.set(entry, size));
    }
    return found;
  };
  const removeObjects = async (name: string, entries: Iterable<string>) => {
    // The manifest first: what is left of an interrupted removal is not complete.
    const rest = [...entries].filter((entry) => entry !== manifestEntry);
    await bucket.remove([`${base}${name}/${manifestEntry}`]);
    await bucket.remove(rest.map((entry) => `${base}${name}/${entry}`));
  };
  return {
    location: `s3://${bucketName}/${prefix}`,
    async create(name) {
      if ((await objectsByName(`${name}/`)).size > 0) throw backupErrors.already_exists({ place: locationOf(name) });
      const written: string[] = [];
      let bytes = 0;
      return {
        location: locationOf(name),
        async put(entry, content) {
          written.push(entry);
          const headers = { 'content-type': 'application/octet-stream' };
          const body = content as Buffer<ArrayBuffer>;
          await bucket.put({ path: `${base}${name}/${entry}`, body, size: content.length, headers });
          bytes += content.length;
        },
        finish: async () => bytes,
        discard: () => removeObjects(name, written),
      };
    },
    async list() {
      const found = [...(await objectsByName(''))].map(
        ([name, entries]): StoredBackup => ({
          name,
          bytes: [...entries.values()].reduce((sum, size) => sum + size, 0),
          isComplete: entries.has(manifestEntry),
        }),
      );
      return found.sort(newestFirst);
    },
    async open(name) {
      const location = locationOf(name);
      const entries = (await objectsByName(`${name}/`)).get(name);
      if (!entries) throw backupErrors.not_found({ place: location });
      if (!entries.has(manifestEntry)) throw backupErrors.incomplete({ place: location });
      return {
        ...{ location, entries },
        async read(entry) {
          const bytes = await readObject(bucket, `${base}${name}/${entry}`);
          if (!bytes) throw backupErrors.altered({ place: location, part: entry });
          return bytes;
        },
        close: async () => {},
      };
    },
    async remove(names) {
      for (const name of names) {
        const entries = (await objectsByName(`${name}/`)).get(name);
        if (entries) await removeObjects(name, entries.keys());
      }
    },
    async removeAbandoned(source) {
      for (const [name, entries] of await objectsByName(`tradepost-${source}-`))
        if (sourceIn(name) === source && !entries.has(manifestEntry)) await removeObjects(name, entries.keys());
    },
    check: () => bucket.check(),
    free: async () => null,
  };
}
