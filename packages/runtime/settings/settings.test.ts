import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openLog } from '../observability/log.ts';
import { openSecrets, type Secrets } from '../secrets/secrets.ts';
import { openMemoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { sealPlainSettings } from './sealed-settings.ts';
import { secretMask, setting } from './setting.ts';
import { openSettings, type Settings } from './settings.ts';

const days = setting('aftersale.return_days', z.number().int().min(0).max(365), 7, 'days to return goods');
const greeting = setting('support.greeting', z.string().trim().min(1), 'Hello', 'first line of a chat');
const apiKey = setting('assistant.api_key', z.string(), '', 'key of the model', { secret: true });
const definitions = [days, greeting, apiKey];

let database: TestDatabase;
let store: Store;
let lines: string[];
let folder: string;
const opened: Settings[] = [];

beforeEach(async () => {
  database = await cloneDatabase();
  store = openMemoryStore();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-settings-'));
  lines = [];
});
afterEach(async () => {
  for (const settings of opened.splice(0)) await settings.close();
  await store.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const openKeys = (file = 'secrets.key'): Secrets =>
  openSecrets({ sql: database.sql, file: join(folder, file), log: openLog({ level: 'silent' }) });

async function open(fixed: Record<string, unknown> = {}, secrets = openKeys()): Promise<Settings> {
  const log = openLog({ level: 'warn', stream: { write: (line: string) => lines.push(line) } });
  const settings = await openSettings({ sql: database.sql, events: store, log, secrets, definitions, fixed });
  opened.push(settings);
  return settings;
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: { refusalName?: string }) => error.refusalName,
  );

test('a shop without settings uses the defaults', async () => {
  const settings = await open();
  expect([settings.get(days), settings.get(greeting)]).toEqual([7, 'Hello']);
  expect(settings.list()).toEqual([
    { key: 'aftersale.return_days', value: 7, source: 'default', about: days.about, secret: false },
    { key: 'assistant.api_key', value: '', source: 'default', about: apiKey.about, secret: true },
    { key: 'support.greeting', value: 'Hello', source: 'default', about: greeting.about, secret: false },
  ]);
});

test('a changed setting is effective when the call returns, survives a restart, and can be reset to the default', async () => {
  const settings = await open();
  await settings.set(days.key, 14);
  await settings.set(greeting.key, '  Hi  ');
  expect([settings.get(days), settings.get(greeting)]).toEqual([14, 'Hi']);
  expect((await open()).get(days)).toBe(14);
  expect(settings.list().find((row) => row.key === days.key)).toMatchObject({ value: 14, source: 'table' });
  await settings.set(days.key, 30);
  expect(settings.get(days)).toBe(30);
  await settings.unset(days.key);
  expect([settings.get(days), settings.get(greeting)]).toEqual([7, 'Hi']);
  await settings.unset(days.key);
});

describe('is refused, and the effective value stays', () => {
  test('a key that does not exist', async () => {
    const settings = await open();
    expect(await refusal(settings.set('aftersale.return_dayz', 3))).toBe('unknown_setting');
    expect(await refusal(settings.unset('aftersale.return_dayz'))).toBe('unknown_setting');
    expect(await database.sql`select 1 from runtime.settings`).toHaveLength(0);
  });

  test.each([-1, 366, 1.5, '14', null, undefined])('%j days', async (value) => {
    const settings = await open();
    await settings.set(days.key, 14);
    expect(await refusal(settings.set(days.key, value))).toBe('invalid_setting');
    await expect(settings.set(days.key, value)).rejects.toThrow(/^aftersale\.return_days: ./);
    expect(settings.get(days)).toBe(14);
  });

  test('a key that the configuration file sets', async () => {
    const before = await open();
    await before.set(days.key, 14);
    const settings = await open({ [days.key]: 21 });
    expect(settings.get(days)).toBe(21);
    expect(settings.list().find((row) => row.key === days.key)).toMatchObject({ value: 21, source: 'file' });
    expect(await refusal(settings.set(days.key, 3))).toBe('fixed_setting');
    expect(await refusal(settings.unset(days.key))).toBe('fixed_setting');
    expect(before.get(days)).toBe(14);
  });

  test('an unknown key or an invalid value in the configuration file stops the start; the error names it', async () => {
    await expect(open({ 'no.such': 1 })).rejects.toThrow('no.such');
    await expect(open({ [days.key]: 'many' })).rejects.toThrow(days.key);
  });

  test('a key that two packages define, or a setting that no package registers', async () => {
    const log = openLog({ level: 'silent' });
    const secrets = openKeys();
    const twice = { sql: database.sql, events: store, log, secrets, definitions: [days, days], fixed: {} };
    await expect(openSettings(twice)).rejects.toThrow('same setting');
    const settings = await open();
    expect(() => settings.get(setting('other', z.string(), '', ''))).toThrow('not registered');
  });
});

test('a change on one instance reaches the others', async () => {
  const [one, two] = [await open(), await open()];
  await one.set(days.key, 14);
  await vi.waitFor(() => expect(two.get(days)).toBe(14));
  await two.unset(days.key);
  await vi.waitFor(() => expect(one.get(days)).toBe(7));
});

describe('update', () => {
  const names = setting('test.names', z.array(z.string()), [], 'a list that grows');
  const openNames = async (fixed: Record<string, unknown> = {}): Promise<Settings> => {
    const log = openLog({ level: 'silent' });
    const all = [...definitions, names];
    const secrets = openKeys();
    const settings = await openSettings({ sql: database.sql, events: store, log, secrets, definitions: all, fixed });
    opened.push(settings);
    return settings;
  };

  test('concurrent changes of several instances are all kept and logged', async () => {
    const instances = await Promise.all([1, 2, 3].map(() => openNames()));
    const wanted = Array.from({ length: 24 }, (_, i) => `name${i}`);
    await Promise.all(
      wanted.map((name, i) => instances[i % 3]!.update(names, (before) => [...before, name], { by: `admin:${i}` })),
    );
    const [row] = await database.sql`select value from runtime.settings where key = ${names.key}`;
    expect([...row!.value].sort()).toEqual([...wanted].sort());
    const { rows } = await instances[0]!.changes({ keys: [names.key], limit: 100 });
    expect(rows).toHaveLength(24);
    // Each change starts from the result of the previous one.
    for (const [i, { before }] of rows.entries()) expect(before).toEqual(rows[i + 1]?.after ?? null);
  });

  test('the new value is effective when the call returns; the first change gets the default', async () => {
    const settings = await openNames();
    const seen: unknown[] = [];
    const add = (name: string) => (before: string[]) => {
      seen.push(before);
      return [...before, name];
    };
    expect(await settings.update(names, add('a'))).toEqual(['a']);
    expect(await settings.update(names, add('b'))).toEqual(['a', 'b']);
    expect(settings.get(names)).toEqual(['a', 'b']);
    expect(seen).toEqual([[], ['a']]);
  });

  test('a change that throws, or has an invalid result, changes nothing', async () => {
    const settings = await openNames();
    await settings.set(names.key, ['a']);
    await expect(
      settings.update(names, () => {
        throw new Error('there is one already');
      }),
    ).rejects.toThrow('there is one already');
    expect(await refusal(settings.update(names, () => [1] as never))).toBe('invalid_setting');
    expect(settings.get(names)).toEqual(['a']);
    expect((await settings.changes({ keys: [names.key], limit: 9 })).rows).toHaveLength(1);
  });

  test('an invalid stored value is refused, so that it is not replaced by a change of the default', async () => {
    await database.sql`insert into runtime.settings (key, value) values (${names.key}, '{"old": "form"}')`;
    const settings = await openNames();
    expect(await refusal(settings.update(names, (before) => [...before, 'a']))).toBe('invalid_stored_setting');
    const [row] = await database.sql`select value from runtime.settings where key = ${names.key}`;
    expect(row!.value).toEqual({ old: 'form' });
  });

  test('a key that the configuration file sets is refused before the change is called', async () => {
    const settings = await openNames({ [names.key]: ['fixed'] });
    const change = vi.fn(() => []);
    expect(await refusal(settings.update(names, change))).toBe('fixed_setting');
    expect(change).not.toHaveBeenCalled();
  });
});

test('a reading of the table that ends late does not hide a later change', async () => {
  const held: (() => void)[] = [];
  let holdNext = false;
  // The answer to one reading is held back, as on a slow connection.
  const sql = new Proxy(database.sql, {
    apply(target, self, args) {
      const query = Reflect.apply(target, self, args);
      if (!holdNext || !String(args[0]).includes('from runtime.settings order by')) return query;
      holdNext = false;
      const late = query.execute().then(async (rows: unknown) => {
        await new Promise<void>((resolve) => held.push(resolve));
        return rows;
      });
      return late;
    },
  });
  const settings = await openSettings({
    ...{ sql, events: store, log: openLog({ level: 'silent' }), secrets: openKeys(), definitions, fixed: {} },
  });
  opened.push(settings);
  holdNext = true;
  const slow = settings.reload();
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await settings.set(days.key, 30);
  held[0]!();
  await slow;
  expect(settings.get(days)).toBe(30);
});

test('a closed instance reads no changes', async () => {
  const [one, two] = [await open(), await open()];
  await two.close();
  await one.set(days.key, 14);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(two.get(days)).toBe(7);
});

test('a value for development is refused when it is set in production, and stays where it was set before', async () => {
  const sender = setting('test.sender', z.string(), 'off', 'about', {
    notInProduction: { values: ['test'], text: 'test is for development' },
  });
  const openIn = async (production: boolean) => {
    const log = openLog({ level: 'silent' });
    const base = { sql: database.sql, events: store, log, secrets: openKeys(), fixed: {} };
    const settings = await openSettings({ ...base, definitions: [sender], production });
    opened.push(settings);
    return settings;
  };
  await (await openIn(false)).set(sender.key, 'test');
  const settings = await openIn(true);
  expect(settings.get(sender)).toBe('test');
  await expect(settings.set(sender.key, 'test')).rejects.toThrow('test.sender: test is for development');
  expect(await refusal(settings.update(sender, () => 'test'))).toBe('invalid_setting');
  await settings.set(sender.key, 'real');
  expect(settings.get(sender)).toBe('real');
});

test('an operator can change a setting while the store is down', async () => {
  store = { ...store, publish: () => Promise.reject(new Error('Redis is gone')) };
  const settings = await open();
  await settings.set(days.key, 14);
  expect(settings.get(days)).toBe(14);
  expect(lines.join('')).toContain('next poll');
});

test('a stored value that a newer version no longer accepts is replaced by the default and logged', async () => {
  await database.sql`
    insert into runtime.settings (key, value) values (${days.key}, '"a week"'), ('gone.setting', '1'), (${greeting.key}, '"Hi"')`;
  const settings = await open();
  expect([settings.get(days), settings.get(greeting)]).toEqual([7, 'Hi']);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ key: days.key });
  expect(settings.list().find((row) => row.key === days.key)).toMatchObject({ source: 'default' });
  await settings.set(days.key, 10);
  expect(settings.get(days)).toBe(10);
});

test('several settings change together; when one is refused, nothing changes', async () => {
  const settings = await open({ [apiKey.key]: 'fixed' });
  await settings.setMany({ [days.key]: 14, [greeting.key]: 'Hi' });
  expect([settings.get(days), settings.get(greeting)]).toEqual([14, 'Hi']);
  for (const [values, refused] of [
    [{ [days.key]: 21, [greeting.key]: '' }, 'invalid_setting'],
    [{ [days.key]: 21, 'no.such': 1 }, 'unknown_setting'],
    [{ [days.key]: 21, [apiKey.key]: 'mine' }, 'fixed_setting'],
  ] as const)
    expect(await refusal(settings.setMany(values))).toBe(refused);
  await settings.setMany({});
  expect([(await open()).get(days), settings.get(greeting)]).toEqual([14, 'Hi']);
});

describe('a secret', () => {
  const storedText = async () => {
    const [row] = await database.sql`
      select (select string_agg(s::text, '') from runtime.settings s) as settings,
             (select string_agg(c::text, '') from runtime.setting_changes c) as changes`;
    return `${row!.settings}${row!.changes}`;
  };

  test('is stored encrypted, and read by other processes and after a restart', async () => {
    const [one, two] = [await open(), await open()];
    await one.set(apiKey.key, 'hunter2');
    await vi.waitFor(() => expect(two.get(apiKey)).toBe('hunter2'));
    expect((await open()).get(apiKey)).toBe('hunter2');
    expect(await two.update(apiKey, (before) => `${before}!`)).toBe('hunter2!');
    await one.reload();
    expect(one.get(apiKey)).toBe('hunter2!');
    expect(await storedText()).toContain('sealed:1:');
    expect(await storedText()).not.toContain('hunter2');
  });

  test('that keeps its value is no change, although its encrypted form would differ', async () => {
    const settings = await open();
    for (const value of ['hunter2', 'hunter2', 'hunter3'])
      await settings.setMany({ [apiKey.key]: value, [days.key]: 9 });
    expect((await settings.changes({ keys: [apiKey.key], limit: 9 })).total).toBe(2);
  });

  test('is left unchanged by its mask, also beside other keys and under a fixed key; an empty text clears it', async () => {
    const settings = await open();
    await settings.set(apiKey.key, 'hunter2');
    await settings.setMany({ [apiKey.key]: secretMask, [days.key]: 9 });
    expect([settings.get(apiKey), settings.get(days)]).toEqual(['hunter2', 9]);
    await (await open({ [apiKey.key]: 'fixed' })).set(apiKey.key, secretMask);
    await settings.set(apiKey.key, '');
    expect(settings.get(apiKey)).toBe('');
  });

  test('that an older version stored plain is read, and encrypted at the start', async () => {
    await database.sql`
      insert into runtime.settings (key, value) values (${apiKey.key}, '"hunter2"'), (${greeting.key}, '"Hi"')`;
    const settings = await open();
    expect(settings.get(apiKey)).toBe('hunter2');
    const deps = { sql: database.sql, secrets: openKeys() };
    const seal = () => sealPlainSettings(deps, definitions);
    await Promise.all([seal(), seal()]);
    expect(await seal()).toEqual([]);
    expect(await storedText()).not.toContain('hunter2');
    await settings.reload();
    expect([settings.get(apiKey), settings.get(greeting)]).toEqual(['hunter2', 'Hi']);
    expect((await settings.changes({ limit: 9 })).total).toBe(0);
  });

  test('without its key counts as not set, is reported once, and is not overwritten', async () => {
    await (await open()).set(apiKey.key, 'hunter2');
    const before = await storedText();
    const settings = await open({}, openKeys('other.key'));
    await settings.reload();
    expect(settings.get(apiKey)).toBe('');
    expect(settings.list().find((row) => row.key === apiKey.key)).toMatchObject({
      source: 'default',
      unreadable: true,
    });
    expect(await refusal(settings.set(apiKey.key, 'new'))).toBe('secrets_unusable');
    expect(await refusal(settings.update(apiKey, () => 'new'))).toBe('secrets_unusable');
    await settings.set(apiKey.key, secretMask);
    await settings.set(days.key, 9);
    expect(await database.sql`select from runtime.settings where value::text like '%sealed%'`).toHaveLength(1);
    expect((await open()).get(apiKey)).toBe('hunter2');
    expect(before).toContain('sealed:1:');
    expect(lines.filter((line) => line.includes('cannot be decrypted'))).toHaveLength(1);
  });
});

describe('the change log', () => {
  const trail = async (settings: Settings, keys?: string[]) =>
    (await settings.changes({ ...(keys ? { keys } : {}), limit: 100 })).rows.map((row) => [
      row.key,
      row.before,
      row.after,
      row.changed_by,
    ]);

  test('has account, key, old and new value, the newest first, and only real changes', async () => {
    const settings = await open();
    await settings.set(days.key, 14, { by: 'admin:3' });
    await settings.set(days.key, 14, { by: 'admin:4' });
    await settings.setMany({ [days.key]: 21, [greeting.key]: 'Hi' }, { by: 'cli' });
    await settings.setMany({ [greeting.key]: 'Hello' }, { unset: [days.key], by: 'admin:3' });
    await settings.unset(days.key);
    await settings.set(days.key, 7);
    expect(await trail(settings)).toEqual([
      [days.key, null, 7, 'system'],
      [greeting.key, 'Hi', 'Hello', 'admin:3'],
      [days.key, 21, null, 'admin:3'],
      [greeting.key, null, 'Hi', 'cli'],
      [days.key, 14, 21, 'cli'],
      [days.key, null, 14, 'admin:3'],
    ]);
    expect(await trail(settings, [greeting.key])).toHaveLength(2);
    const page = await settings.changes({ keys: [days.key], limit: 2, offset: 2 });
    expect({ total: page.total, after: page.rows.map((row) => row.after) }).toEqual({ total: 4, after: [21, 14] });
  });

  test('never contains a secret, neither the old nor the new value', async () => {
    const settings = await open();
    await settings.set(apiKey.key, 'first-secret');
    await settings.set(apiKey.key, 'other-secret');
    await settings.unset(apiKey.key);
    expect(await trail(settings)).toEqual([
      [apiKey.key, '***', null, 'system'],
      [apiKey.key, '***', '***', 'system'],
      [apiKey.key, null, '***', 'system'],
    ]);
    const [row] = await database.sql`select string_agg(c::text, '') as text from runtime.setting_changes c`;
    expect(row!.text).not.toContain('secret');
  });

  test('is not written for a refused change', async () => {
    const settings = await open({ [apiKey.key]: 'fixed' });
    for (const values of [{ [days.key]: -1 }, { [days.key]: 3, [apiKey.key]: 'x' }, { [days.key]: 3, other: 1 }])
      expect(await refusal(settings.setMany(values))).not.toBe('accepted');
    expect(await refusal(settings.setMany({ [days.key]: 3 }, { unset: ['no.such'] }))).toBe('unknown_setting');
    expect(await refusal(settings.setMany({ [days.key]: 3 }, { unset: [apiKey.key] }))).toBe('fixed_setting');
    expect(await trail(settings)).toEqual([]);
    expect(settings.get(days)).toBe(7);
  });

  test('has concurrent changes in order: each starts from the result of the previous one', async () => {
    const instances = await Promise.all([open(), open(), open()]);
    const save = (n: number) =>
      n % 7 === 0
        ? instances[n % 3]!.unset(days.key, { by: `admin:${n}` })
        : instances[n % 3]!.setMany({ [days.key]: n, [greeting.key]: `Hi ${n}` }, { by: `admin:${n}` });
    await Promise.all(Array.from({ length: 60 }, (_, n) => save(n)));
    for (const { key } of [days, greeting]) {
      const { rows } = await instances[0]!.changes({ keys: [key], limit: 100 });
      const oldestFirst = rows.reverse();
      expect(oldestFirst.length).toBeGreaterThan(30);
      expect(oldestFirst.map((row) => row.before)).toEqual([null, ...oldestFirst.slice(0, -1).map((row) => row.after)]);
      const [stored] = await database.sql`select value from runtime.settings where key = ${key}`;
      expect(oldestFirst.at(-1)!.after).toEqual(stored?.value ?? null);
    }
  });
});
