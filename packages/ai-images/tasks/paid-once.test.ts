import { inspect } from 'node:util';
import { demoImageKey } from '@tradepost/image-simulator';
import { openLog } from '@tradepost/runtime';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { aiImageMetrics } from '../ai-image-metrics.ts';
import { ServiceError } from '../drivers/driver.ts';
import { openServiceNetwork } from '../drivers/service-network.ts';
import { type ImageShop, openImageShop } from '../testing/image-shop.ts';
import { runTask } from './run-task.ts';

/** A service is paid for each request, so it is asked only when its pictures can be used. */
let images: ImageShop;
beforeAll(async () => {
  images = await openImageShop();
  await images.addModel();
});
afterAll(() => images?.close());
afterEach(async () => {
  await images.sql`delete from storage.files`;
  await images.shop.server.runtime.settings.setMany(
    {},
    { unset: ['storage_router.default_driver', 'storage.extensions', 'storage_local.upload_dir'] },
  );
});

const asked = () => images.simulator.orders().length;
async function runAll() {
  const before = asked();
  const { id } = (await images.generate()).data;
  for (let attempt = 0; attempt < 4; attempt += 1) await images.run(id);
  return { ...(await images.task(id)), asked: asked() - before };
}

test('a service is not asked while the storage takes no files', async () => {
  await images.shop.server.runtime.settings.set('storage_router.default_driver', 'oss');
  expect(await runAll()).toMatchObject({
    ...{ status: 3, asked: 0 },
    error_msg: expect.stringContaining('The pictures were not stored: The storage driver oss is not set up'),
  });
});

test('pictures that the storage does not take are not paid again', async () => {
  await images.shop.server.runtime.settings.set('storage_local.upload_dir', '/dev/null/none');
  expect(await runAll()).toMatchObject({ status: 3, asked: 1, error_msg: expect.stringContaining('were not stored') });
});

test('only pictures are stored, also in a shop that takes other uploads', async () => {
  await images.shop.server.runtime.settings.set('storage.extensions', ['png', 'pdf']);
  images.simulator.plan('not_image');
  expect(await runAll()).toMatchObject({ status: 3, asked: 1, error_msg: expect.stringContaining('no allowed type') });
  expect(await images.sql`select id from storage.files`).toEqual([]);
});

test('a picture whose address is busy is read again, without another request to the service', async () => {
  images.simulator.plan('picture_busy');
  expect(await runAll()).toMatchObject({ status: 2, asked: 1 });
});

test('the error of a stopped worker, which the queue stores, has no reason of the service', async () => {
  const { id } = (await images.generate()).data;
  const stop = new AbortController();
  const { runtime } = images.shop.server;
  const echo = {
    ...{ name: 'openai', endpoint: '', model: '' },
    async generate({ apiKey }: { apiKey: string }): Promise<never> {
      stop.abort();
      throw new ServiceError('refused', `wrong key ${apiKey}`, { permanent: true });
    },
  };
  const deps = {
    ...{ runtime, drivers: [echo], metrics: aiImageMetrics(runtime.metrics) },
    uploads: { checkReady() {}, find: async () => null, storeFiles: async () => null as never },
    network: openServiceNetwork([]),
  };
  const error: unknown = await runTask(deps, id, { log: openLog({ level: 'silent' }), signal: stop.signal }).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  expect(inspect(error, { depth: 9 })).not.toContain(demoImageKey);
  await deps.network.close();
});
