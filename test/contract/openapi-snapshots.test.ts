import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiSnapshots } from '../../packages/app/openapi/generate.ts';
import type { ApiDocument } from '../../packages/app/openapi/split-document.ts';
import { readSnapshots } from '../../packages/client/read-snapshots.ts';

/** A pull request that changes the API shows the change in `packages/<package>/openapi.json`. */
let shop: Shop;
let document: ApiDocument;
beforeAll(async () => {
  shop = await openShop();
  document = (await (await fetch(`${shop.url}/openapi.json`)).json()) as ApiDocument;
});
afterAll(() => shop?.close());

test('the snapshot of each package agrees with its routes', async () => {
  const snapshots = await apiSnapshots(shop.server.runtime, document);
  const stale: string[] = [];
  for (const [file, text] of snapshots)
    if ((await readFile(file, 'utf8').catch(() => '')) !== text) stale.push(relative(process.cwd(), file));
  expect(stale, 'a route changed: run `npm run generate:openapi` and commit these files').toEqual([]);
});

test('the snapshots together are the whole document, and a removed package has no snapshot', async () => {
  const tagsSorted = (of: ApiDocument) => ({ ...of, tags: [...of.tags].sort((a, b) => (a.name < b.name ? -1 : 1)) });
  expect(tagsSorted((await readSnapshots()) as ApiDocument)).toEqual(tagsSorted(document));
});
