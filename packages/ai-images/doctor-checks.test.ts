import { findingsOf } from '@tradepost/module';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { modelDoctorCheck } from './doctor-checks.ts';
import { openaiDriver } from './drivers/openai-driver.ts';
import { type ImageModel, upsertModels } from './models/model-store.ts';

/** What `tradepost doctor` finds about image models. */
let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database?.drop());
beforeEach(() => database.sql`delete from ai_images.models`);

const model: ImageModel = {
  ...{
    id: 7,
    name: 'Photos',
    driver: 'openai',
    endpoint: 'https://images.example.com/v1',
    api_key_sealed: 'sealed:1:x',
  },
  ...{ params: {}, is_default: true, status: 1, supports_ref_image: false },
};
async function findings(...models: Partial<ImageModel>[]) {
  await database.sql.begin((tx) =>
    upsertModels(
      tx,
      models.map((fields) => ({ ...model, ...fields })),
    ),
  );
  const found = findingsOf('ai images');
  await modelDoctorCheck([openaiDriver]).check({ sql: database.sql } as never, found);
  return found.findings.map(({ level, what, todo }) => [level, what, todo].filter(Boolean).join(': '));
}

test('a shop without models has no finding, and one with a complete default model none to act on', async () => {
  expect(await findings()).toEqual([]);
  expect(await findings({})).toEqual(['ok: enabled image models: 1']);
});

test.each<[string, Partial<ImageModel>, string]>([
  [
    'without a key',
    { api_key_sealed: null },
    'warning: the image model Photos has no key: tradepost ai models edit 7 --key-stdin',
  ],
  [
    'with a driver of no module',
    { driver: 'midjourney' },
    'error: the image model Photos has the driver midjourney, which no module has: tradepost ai models remove 7',
  ],
  [
    'that is not the default',
    { is_default: false },
    'warning: no image model is the default: tradepost ai models edit 7 --default',
  ],
])('a model %s is named with the command that helps', async (_case, fields, finding) => {
  expect(await findings(fields)).toEqual([finding, 'ok: enabled image models: 1']);
});

test('a disabled model is not checked', async () => {
  expect(await findings({ status: 0, is_default: false, api_key_sealed: null, driver: 'midjourney' })).toEqual([]);
});
