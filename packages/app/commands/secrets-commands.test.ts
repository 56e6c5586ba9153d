import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog, openSecrets, resealColumn, type SealedColumn, type Secrets } from '@tradepost/runtime';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let database: TestDatabase;
let folder: string;
let file: string;
beforeEach(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-secrets-'));
  file = join(folder, 'secrets.key');
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const run = (args: string[], input?: string) =>
  runCommandInProcess(args, {
    env: { DATABASE_URL: database.url, TRADEPOST_DATA: folder, TRADEPOST_SECRETS_KEY_FILE: file },
    ...(input === undefined ? {} : { input }),
  });
const json = async (args: string[]) => JSON.parse((await run([...args, '--json'])).stdout);
const open = (): Secrets => openSecrets({ sql: database.sql, file, log: openLog({ level: 'silent' }) });
const set = (key: string, secret: string) => run(['settings', 'set', key], secret);
const get = async (key: string) => JSON.parse((await run(['settings', 'get', key, '--reveal'])).stdout);
const storedText = async () =>
  (await database.sql`select string_agg(value::text, '') as text from runtime.settings`)[0]!.text as string;

test('rotate encrypts all secrets with a new key; the old key can then be removed', async () => {
  expect((await run(['secrets', 'status'])).stdout).toContain('no secret is stored yet');
  await set('sms.secret_key', 'hunter2');
  await set('storage_oss.access_key_secret', 'hunter3');
  // Stored by an older version.
  await database.sql`insert into runtime.settings (key, value) values ('external_wms.app_secret', '"hunter4"')`;
  const before = (await json(['secrets', 'status'])).keys[0].id;

  const rotated = await json(['secrets', 'rotate', '--new-key']);
  expect(rotated).toMatchObject({
    unused: [before],
    columns: expect.arrayContaining([expect.objectContaining({ table: 'runtime.settings', resealed: 2 })]),
  });
  expect(rotated.key).not.toBe(before);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await storedText()).not.toMatch(new RegExp(`${before}|hunter`));
  expect(await json(['secrets', 'rotate'])).toMatchObject({
    key: rotated.key,
    columns: expect.arrayContaining([expect.objectContaining({ table: 'runtime.settings', resealed: 0 })]),
  });

  const keys = (await readFile(file, 'utf8')).split('\n').filter((line) => !line.startsWith('#') && line);
  expect(keys).toHaveLength(2);
  await writeFile(file, `${keys[0]}\n`);
  expect(await get('sms.secret_key')).toBe('hunter2');
  expect(await get('storage_oss.access_key_secret')).toBe('hunter3');
  expect(await get('external_wms.app_secret')).toBe('hunter4');
  expect((await run(['secrets', 'status'])).code).toBe(0);
});

test('rotate leaves no secret to the old key, also of a process that stores secrets meanwhile', async () => {
  await set('sms.secret_key', 'hunter2');
  const { sql } = database;
  const running = open();
  const before = (await running.status()).inFile[0]!;
  const name = 'runtime.settings:sms.secret_key';
  let isOver = false;
  const store = async () => {
    const sealed = await running.seal(name, '"hunter3"');
    await sql`update runtime.settings set value = to_jsonb(${sealed}::text) where key = 'sms.secret_key'`;
  };
  const storing = (async () => {
    for (await store(); !isOver; await new Promise((resolve) => setTimeout(resolve, 20))) await store();
  })();
  const rotated = await json(['secrets', 'rotate', '--new-key']);
  await store();
  isOver = true;
  await storing;
  expect(rotated.unused).toEqual([before]);
  expect(await storedText()).toContain(rotated.key);
});

test('rotate also encrypts plain secrets of a module that is switched off', async () => {
  await database.sql`insert into runtime.settings (key, value) values ('external_wms.app_secret', '"hunter4"')`;
  await writeFile(join(folder, 'shop.json'), JSON.stringify({ modules: ['-external-wms', '-warehouse-simulator'] }));
  const rotated = await run(['secrets', 'rotate', '--config', join(folder, 'shop.json')]);
  expect(rotated.code, rotated.stderr).toBe(0);
  expect(await storedText()).not.toContain('hunter4');
  expect(await get('external_wms.app_secret')).toBe('hunter4');
});

test('a lost key is reported with exit code 1; after forget the secrets are set again under a new key', async () => {
  await set('sms.secret_key', 'hunter2');
  const [{ id }] = (await json(['secrets', 'status'])).keys;
  expect(await run(['secrets', 'forget', id])).toMatchObject({ code: 2, stderr: expect.stringContaining('not lost') });
  await rm(file);
  expect(await run(['secrets', 'status'])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/MISSING[\s\S]*put the kept copy back/),
  });
  expect((await set('sms.secret_key', 'hunter3')).code).not.toBe(0);
  expect((await run(['secrets', 'rotate'])).code).not.toBe(0);
  expect((await run(['settings', 'get', 'sms.secret_key'])).stdout).toContain('unreadable');
  expect(await json(['secrets', 'forget', id])).toEqual({ forgotten: id, missing: [] });
  expect((await run(['secrets', 'rotate'])).code).toBe(1);
  expect((await set('sms.secret_key', 'hunter3')).code).toBe(0);
  expect(await get('sms.secret_key')).toBe('hunter3');
  expect((await run(['secrets', 'status'])).code).toBe(0);
});

test('after a rotation each key of a lost file is forgotten, and forget names those that are left', async () => {
  await set('sms.secret_key', 'hunter2');
  expect((await run(['secrets', 'rotate', '--new-key'])).code).toBe(0);
  const keys = (await json(['secrets', 'status'])).keys as { id: string; encrypts: boolean; values: number }[];
  const { id: current } = keys.find(({ encrypts }) => encrypts)!;
  const { id: former, values } = keys.find(({ encrypts }) => !encrypts)!;
  expect(values).toBe(0);
  await rm(file);
  const first = await run(['secrets', 'forget', current]);
  expect(first.stdout).toContain(`not in the key file either: ${former}. Forget these too`);
  expect((await set('sms.secret_key', 'hunter3')).code).not.toBe(0);
  expect(await json(['secrets', 'forget', former])).toEqual({ forgotten: former, missing: [] });
  expect((await set('sms.secret_key', 'hunter3')).code).toBe(0);
  expect(await get('sms.secret_key')).toBe('hunter3');
});

describe('a column of a package', () => {
  const column: SealedColumn = {
    ...{ table: 'public.vaults', key: 'id', column: 'secret' },
    nameOf: (key) => `vaults:${key}`,
  };
  const rows = 450;
  async function fill(secrets: Secrets): Promise<void> {
    const { sql } = database;
    await sql`create table public.vaults (id bigint primary key, secret text)`;
    for (let id = 1; id <= rows; id += 1)
      await sql`insert into public.vaults values (${id}, ${await secrets.seal(`vaults:${id}`, `secret ${id}`)})`;
    await sql`insert into public.vaults values (${rows + 1}, null)`;
  }
  const readable = async (secrets: Secrets) => {
    const found = await database.sql<{ id: string; secret: string }[]>`
      select id::text, secret from public.vaults where secret is not null order by public.vaults.id`;
    return found.filter(({ id, secret }) => secrets.open(`vaults:${id}`, secret) === `secret ${id}`).length;
  };
  const withKey = async (id: string) =>
    (await database.sql`select 1 from public.vaults where secret like ${`sealed:1:${id}:%`}`).length;

  test('is encrypted again in batches; a run that is ended in the middle loses nothing, and the next one finishes', async () => {
    const secrets = open();
    await fill(secrets);
    await secrets.addKey();
    await secrets.seal('check', '');
    const firstKey = (await secrets.status()).inFile[0]!;
    // Ends after the first batch, as a killed process does between two statements.
    let batches = 0;
    const stopping = {
      get aborted() {
        return batches++ === 1;
      },
    } as AbortSignal;
    expect((await resealColumn({ sql: database.sql, secrets }, column, { firstKey, stopping })).resealed).toBe(200);
    expect([await withKey(firstKey), await readable(open())]).toEqual([200, rows]);

    const both = await Promise.all(
      [secrets, open()].map((one) => resealColumn({ sql: database.sql, secrets: one }, column, { firstKey })),
    );
    expect(both[0]!.resealed + both[1]!.resealed).toBe(rows - 200);
    expect([await withKey(firstKey), await readable(open())]).toEqual([rows, rows]);
  });

  test('keeps a value that is written during the run, and names rows that cannot be decrypted', async () => {
    const secrets = open();
    await fill(secrets);
    const { sql } = database;
    await sql`update public.vaults set secret = (select secret from public.vaults where id = 1) where id = 2`;
    await secrets.addKey();
    const fresh = await secrets.seal('vaults:3', 'written meanwhile');
    const slow: Secrets = {
      ...secrets,
      async seal(name, text) {
        if (name === 'vaults:3') await sql`update public.vaults set secret = ${fresh} where id = 3`;
        return secrets.seal(name, text);
      },
    };
    const firstKey = (await secrets.status()).inFile[0]!;
    expect(await resealColumn({ sql, secrets: slow }, column, { firstKey })).toMatchObject({
      ...{ resealed: rows - 2, unreadable: ['2'] },
    });
    const [row] = await sql`select secret from public.vaults where id = 3`;
    expect(secrets.open('vaults:3', row!.secret)).toBe('written meanwhile');
  });

  test('two processes that add a key at the same time keep both keys', async () => {
    const secrets = open();
    await secrets.seal('a', 'x');
    await Promise.all([open().addKey(), open().addKey()]);
    expect((await secrets.status()).inFile).toHaveLength(3);
  });
});
