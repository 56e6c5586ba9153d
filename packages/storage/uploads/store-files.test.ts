import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openModules } from '@tradepost/module';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storageModule, type Uploads, uploadsService } from '../module.ts';
import { filesIn, pngOf } from '../testing/forms.ts';

/** Files that the shop makes itself, such as generated pictures. */
let shop: Shop;
let uploads: Uploads;
let close: () => Promise<void>;
beforeAll(async () => {
  shop = await openShop();
  const opened = await openModules(shop.server.runtime, [storageModule]);
  uploads = opened.context.service(uploadsService);
  close = opened.close;
});
afterAll(async () => {
  await close?.();
  await shop?.close();
});

const picture = Buffer.from(pngOf(2_000));
const onDisk = () => filesIn(join(shop.server.runtime.config.data, 'uploads'));
const rows = async () => shop.database.sql<{ state: string }[]>`select state from storage.files`;
async function* chunksOf(...chunks: Buffer[]) {
  yield* chunks;
}
const store = (contents: Buffer[], fails = false) =>
  uploads.storeFiles({
    contents: contents.map((bytes) => chunksOf(bytes.subarray(0, 5), bytes.subarray(5))),
    owner: { role: 'admin', id: 1 },
    write: (work) => shop.database.sql.begin(work) as never,
    async record(_tx, files) {
      if (fails) throw new Error('the rows were refused');
      return files.map(({ address }) => address);
    },
  });

test('files are stored with the rows that refer to them, or nothing of them remains', async () => {
  await expect(store([picture, Buffer.from('<svg></svg>')])).rejects.toThrow('no allowed type');
  await expect(store([picture, picture], true)).rejects.toThrow('the rows were refused');
  expect([await rows(), await onDisk()]).toEqual([[], []]);
  const addresses = await store([picture, picture]);
  expect(addresses).toHaveLength(2);
  expect(await rows()).toEqual([{ state: 'stored' }, { state: 'stored' }]);
  const response = await fetch(shop.url + addresses[0]);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
});

test('an upload is found by its address under any host, and others are not', async () => {
  const [address] = await store([picture]);
  const found = await uploads.find(`https://shop.example${address}`);
  expect(found).toMatchObject({ address, mime: 'image/png', size: picture.length });
  expect(await readFile(found!.file!)).toEqual(picture);
  expect(await uploads.find('/uploads/2026/01/1795468397123456789_0123456789ab.png')).toBeNull();
  expect(await uploads.find('/uploads/../secrets.key')).toBeNull();
});
