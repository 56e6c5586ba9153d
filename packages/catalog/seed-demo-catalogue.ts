import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DemoSeed } from '@tradepost/module';
import { type CatalogueFile, catalogueIsEmpty, seedCatalogue } from './seed-catalogue.ts';

export const catalogDemo: DemoSeed = {
  isEmpty: catalogueIsEmpty,
  async write(tx, fixtures) {
    const file = JSON.parse(await readFile(join(fixtures, 'catalogue.json'), 'utf8')) as CatalogueFile;
    return seedCatalogue(tx, file);
  },
};
