import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isSigned, openReceiver, type Receiver } from '../testing/receiver.ts';

let database: TestDatabase;
let folder: string;
let receiver: Receiver;
/** What the commands of a test have written, without the answers that have a secret. */
let output = '';

beforeAll(async () => {
  database = await cloneDatabase();
  folder = await mkdtemp(join(tmpdir(), 'tradepost-webhooks-'));
  receiver = await openReceiver();
});
afterAll(async () => {
  await receiver?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await database.sql`truncate webhooks.endpoints, webhooks.deliveries, webhooks.attempts restart identity`;
  output = '';
});

const env = () => ({
  DATABASE_URL: database.url,
  TRADEPOST_DATA: folder,
  TRADEPOST_SECRETS_KEY_FILE: join(folder, 'secrets.key'),
  ALLOWED_PRIVATE_NETWORKS: '127.0.0.1',
});
async function run(...args: string[]) {
  const result = await runCommandInProcess(['webhooks', ...args], { env: env() });
  output += result.stdout + result.stderr;
  return result;
}
/** Runs a command that prints a secret. Returns the secret. */
async function secretOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommandInProcess(['webhooks', ...args], { env: env() });
  expect(code).toBe(0);
  // Nothing else is on standard output, and the secret is nowhere else.
  expect(stdout).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
  expect(stderr).not.toContain('whsec_');
  return stdout.trim();
}
const add = (...args: string[]) => secretOf('add', receiver.url, ...args);
const list = async () => JSON.parse((await run('list', '--json')).stdout);

test('a secret is printed once, by add and by rotate-secret; no other command prints it', async () => {
  const first = await add('--events', 'order.paid', '--description', 'ERP');
  const second = await secretOf('rotate-secret', '1');
  expect(second).not.toBe(first);
  expect((await run('test', '1')).code).toBe(0);
  const request = receiver.requests.at(-1)!;
  expect([isSigned(first, request), isSigned(second, request)]).toEqual([true, true]);
  for (const args of [
    ['list'],
    ['list', '--json'],
    ['edit', '1', '--events', 'all'],
    ['edit', '1', '--json', '--description', 'x'],
  ])
    expect((await run(...args)).code).toBe(0);
  for (const name of ['disable', 'enable', 'test'])
    for (const args of [[], ['--json']]) expect((await run(name, '1', ...args)).code).toBe(0);
  expect((await run('deliveries', '--json')).code).toBe(0);
  expect((await run('remove', '1')).code).toBe(0);
  expect(output.length).toBeGreaterThan(500);
  for (const secret of [first, second]) expect(output).not.toContain(secret.slice('whsec_'.length));
  expect(output).not.toContain('whsec_');
});

test('with --json the secret is in the answer, and is stored encrypted', async () => {
  const { stdout } = await runCommandInProcess(['webhooks', 'add', receiver.url, '--json'], { env: env() });
  const { id, url, secret } = JSON.parse(stdout);
  expect([id, url]).toEqual([1, receiver.url]);
  const [row] = await database.sql`select e::text from webhooks.endpoints e`;
  expect(row!.e).toContain('sealed:');
  expect(row!.e).not.toContain(secret.slice('whsec_'.length));
});

test('an endpoint is listed, changed, disabled and removed', async () => {
  expect((await run('list')).stdout).toBe('no endpoints\n');
  await add('--events', 'order.paid,order.shipped');
  expect(await list()).toMatchObject([{ id: 1, enabled: true, event_kinds: ['order.paid', 'order.shipped'] }]);
  await run('edit', '1', '--events', 'all', '--description', 'ERP');
  expect(await list()).toMatchObject([{ event_kinds: [], description: 'ERP', url: receiver.url }]);
  expect((await run('disable', '1')).stdout).toContain('disabled');
  expect(await list()).toMatchObject([{ enabled: false }]);
  expect((await run('enable', '1')).stdout).toContain('enabled');
  expect((await run('remove', '1')).stdout).toBe('removed: endpoint 1\n');
  expect(await list()).toEqual([]);
});

test('deliveries are listed and shown; replay sends the ended ones again', async () => {
  await add();
  await database.sql`
    insert into webhooks.deliveries (endpoint_id, event_id, kind, subject, body, status, ready, attempts, due_at, last_error,
      occurred_at, ended_at)
    select 1, n, 'order.paid', 'order:' || n, '{"id":"evt"}', case when n = 1 then 'failed' else 'delivered' end, false, 9, now(), '',
      now(), now() from generate_series(1, 3) as n`;
  expect(JSON.parse((await run('deliveries', '--status', 'failed', '--json')).stdout)).toMatchObject({
    ...{ total: 1, deliveries: [{ webhook_id: 'evt_1', status: 'failed' }] },
  });
  expect((await run('deliveries', '1')).stdout).toContain('{"id":"evt"}');
  expect((await run('deliveries', '--limit', '1')).stdout).toContain('1 of 3');
  expect((await run('replay', '1', '--failed')).stdout).toBe('replayed: 1\n');
  expect(JSON.parse((await run('replay', '1', '--since', '2026-01-01', '--json')).stdout)).toEqual({
    replayed: 2,
    more: false,
  });
  const rows = await database.sql`select status, ready from webhooks.deliveries`;
  expect(rows.map(({ status, ready }) => [status, ready])).toEqual(Array(3).fill(['waiting', true]));
});

test('a refused test message has exit code 1', async () => {
  await add();
  receiver.behave((_, response) => response.writeHead(500).end('broken'));
  const { code, stdout } = await run('test', '1');
  receiver.behave((_, response) => response.writeHead(204).end());
  expect([code, stdout]).toEqual([1, expect.stringContaining('HTTP 500')]);
});

test.each<[number, string, string[]]>([
  [1, 'endpoint not found', ['edit', '7', '--events', 'all']],
  [1, 'endpoint not found', ['remove', '7']],
  [1, 'endpoint not found', ['enable', '7']],
  [1, 'endpoint not found', ['disable', '7']],
  [1, 'endpoint not found', ['rotate-secret', '7']],
  [1, 'endpoint not found', ['test', '7']],
  [1, 'endpoint not found', ['replay', '7', '--failed']],
  [1, 'delivery not found', ['deliveries', '7']],
  [1, 'private or reserved', ['add', 'http://10.0.0.1/']],
  [1, 'must be an address', ['add', 'hooks']],
  [2, '--events: there is no event order.lost;', ['add', 'https://hooks.example/', '--events', 'order.lost']],
  [2, 'did you mean order.cancelled?', ['add', 'https://hooks.example/', '--events', 'order.canceled']],
  [2, '--url', ['edit', '7']],
  [2, '--failed', ['replay', '7']],
  [2, '--since soon', ['replay', '7', '--since', 'soon']],
  [2, 'number of an endpoint', ['remove', 'seven']],
  [2, 'overlap-hours', ['rotate-secret', '7', '--overlap-hours', '1000']],
  [2, 'description', ['add', 'https://hooks.example/', '--description', 'x'.repeat(201)]],
  [2, 'url', ['add', `https://hooks.example/${'x'.repeat(500)}`]],
  [2, 'limit', ['deliveries', '--limit', '0']],
  [2, 'status', ['deliveries', '--status', 'lost']],
])('exit code %i and "%s": %j', async (code, text, args) => {
  const result = await run(...args);
  expect([result.code, result.stderr.toLowerCase()]).toEqual([code, expect.stringContaining(text)]);
  expect(result.stdout).toBe('');
  expect(await list()).toEqual([]);
});
