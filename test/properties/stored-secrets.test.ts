import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server, settings, startServer } from '@tradepost/app';
import { loadConfig, openLog } from '@tradepost/runtime';
import { call } from '@tradepost/testing/client';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { storeSettings } from '@tradepost/testing/shop';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A text in every secret setting. Nothing may store, log or answer it. */
const marker = 'planted-marker-secret';
/** Keys of payment services have a form of their own, which the marker does not have. They are stored and masked as all others. */
const hasFreeForm = ({ schema, fallback }: (typeof settings)[number]) =>
  typeof fallback !== 'string' || schema.safeParse(marker).success;
const secrets = settings.filter((one) => one.secret && hasFreeForm(one));
const free = new Set(secrets.map(({ key }) => key));
const planted = (text: string) =>
  Object.fromEntries(
    secrets.map(({ key, fallback }) => [
      key,
      typeof fallback === 'string' ? text : [{ name: 'a', base_url: 'http://127.0.0.1:9/v1', api_key: text }],
    ]),
  );

let database: TestDatabase;
let data: string;
let server: Server;
let token: string;
const lines: string[] = [];
beforeAll(async () => {
  database = await cloneDatabase();
  data = await mkdtemp(join(tmpdir(), 'tradepost-planted-'));
  // As an older version has stored them.
  await storeSettings(database, planted(`${marker}-old`));
  const { config } = loadConfig({
    env: {},
    flags: { databaseUrl: database.url, data, port: 0, seed: 'none', only: 'api', databasePool: 4, logRequests: 'all' },
  });
  const log = openLog({ level: 'trace', stream: { write: (line: string) => lines.push(line) } });
  server = await startServer({ config, log });
  token = await server.tokens.issue({ role: 'admin', id: 1, perms: ['*'] });
});
afterAll(async () => {
  await server?.stop();
  await database?.drop();
  await rm(data, { recursive: true, force: true });
});

/** The tables with a row that has the marker in any column. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await database.sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await database.sql.unsafe(`select 1 from ${name} t where t::text like '%${text}%' limit 1`);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

test('planted secrets are used, and are in no table, log line, answer or output', async () => {
  expect(secrets.length).toBeGreaterThan(8);
  expect(await tablesWith(marker)).toEqual([]);
  for (const definition of secrets)
    expect(JSON.stringify(server.runtime.settings.get(definition)), definition.key).toContain(`${marker}-old`);

  const admin = (method: string, path: string, body?: object) =>
    call(server.transport!.url, server.routes, method, `/admin/api${path}`, { token, ...(body ? { body } : {}) });
  const answers: unknown[] = [];
  const { data: schemas } = await admin('GET', '/config/schemas');
  for (const { plugin, fields } of schemas) {
    const passwords = fields.filter(
      ({ key, type }: { key: string; type: string }) =>
        type === 'password' &&
        (free.has(`${plugin}.${key}`) || !settings.some((one) => one.key === `${plugin}.${key}`)),
    );
    const form = Object.fromEntries(passwords.map(({ key }: { key: string }) => [key, `${marker}-new`]));
    answers.push(await admin('PUT', `/config/${plugin}`, form), await admin('GET', `/config/${plugin}`));
    answers.push(await admin('PUT', `/config/${plugin}`, { ...form, [Object.keys(form)[0] ?? 'x']: { no: marker } }));
  }
  await server.runtime.settings.setMany(planted(`${marker}-last`), { by: 'admin:1' });
  answers.push(schemas, await admin('GET', '/system/sms/config'), await admin('GET', '/site-settings'));
  for (const args of [
    ['settings', 'list', '--json'],
    ['settings', 'log', '--json'],
    ['secrets', 'status'],
    ['doctor'],
  ]) {
    const env = { DATABASE_URL: database.url, TRADEPOST_DATA: data, TRADEPOST_SECRETS_KEY_FILE: '' };
    const { stdout, stderr } = await runCommandInProcess(args, { env });
    expect(stdout).not.toBe('');
    answers.push(stdout, stderr);
  }
  expect(JSON.stringify(answers)).not.toContain(marker);
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.join('')).not.toContain(marker);
  expect(await tablesWith(marker)).toEqual([]);
  // The search finds what is there.
  await database.sql`insert into runtime.settings (key, value) values ('a', ${database.sql.json({ b: [marker] })})`;
  expect(await tablesWith(marker)).toEqual(['runtime.settings']);
  const { rows } = await server.runtime.settings.changes({ limit: 500 });
  expect(rows.length).toBeGreaterThan(8);
});
