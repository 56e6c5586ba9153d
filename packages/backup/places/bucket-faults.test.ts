import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { type S3Faults, s3Keys, startS3 } from '@tradepost/testing/s3/s3-server';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bucketPlace } from './bucket-place.ts';

/** A bucket that is busy, loses connections, or is full. */
vi.setConfig({ testTimeout: 120_000 });

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

async function withBucket(faults: S3Faults, work: (run: typeof runCommandInProcess, url: string) => Promise<void>) {
  const s3 = await startS3(['backups'], faults);
  const account = { AWS_ENDPOINT_URL: s3.url, AWS_ACCESS_KEY_ID: s3Keys.id, AWS_SECRET_ACCESS_KEY: s3Keys.secret };
  try {
    await work((args) => runCommandInProcess(args, { env: { DATABASE_URL: database.url, ...account } }), s3.url);
  } finally {
    await s3.close();
  }
}

test('a request that fails is repeated: the backup is complete and can be read', () =>
  withBucket({ every: 4 }, async (run) => {
    const made = await run(['backup', 'create', 's3://backups/shop', '--uploads', 'none', '--json']);
    expect(made).toMatchObject({ code: 0 });
    expect(await run(['backup', 'verify', 's3://backups/shop', '--checksums'])).toMatchObject({ code: 0 });
    const listed = JSON.parse((await run(['backup', 'list', 's3://backups/shop', '--json'])).stdout);
    expect(listed.backups).toMatchObject([{ complete: true, problem: '', rows: JSON.parse(made.stdout).rows }]);
  }));

test('a bucket that is full fails the backup, and nothing of it is left there', () =>
  withBucket({ maxObjects: 3 }, async (run, endpoint) => {
    const failed = await run(['backup', 'create', 's3://backups/shop', '--uploads', 'none']);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('QuotaExceeded') });
    const account = { endpoint, region: 'us-east-1', accessKey: s3Keys.id, secretKey: s3Keys.secret };
    expect(await bucketPlace('backups', 'shop', () => account).list()).toEqual([]);
  }));
