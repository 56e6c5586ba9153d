import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settings } from '@tradepost/app';
import { startEmbeddedPostgres } from '@tradepost/embedded-postgres';
import { openTokens } from '@tradepost/identity';
import { loadConfig, openLog, openRuntime } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { type RunningServer, runCommand, startProcess } from '@tradepost/testing/processes/process';
import { afterAll, beforeAll, expect, test } from 'vitest';

let data: string;
let server: RunningServer;
let tokens: string[];
let addresses: number[];
let skus: number[];

/** Opens the database of the data folder and runs `work` on it, whether or not a server runs. */
async function withDatabase<T>(work: (runtime: Awaited<ReturnType<typeof openRuntime>>) => Promise<T>): Promise<T> {
  const { config } = loadConfig({ env: {}, flags: { data } });
  const runtime = await openRuntime({ config, definitions: settings, log: openLog({ level: 'silent' }) });
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'tradepost-crash-'));
  await chmod(data, 0o755);
  expect((await runCommandInProcess(['seed', '--data', data])).code).toBe(0);
  await withDatabase(async (runtime) => {
    const { sql } = runtime;
    const rows = await sql<{ user_id: number; id: number }[]>`
      with buyer as (insert into identity.shoppers (username) values ('buyer') returning id)
      insert into identity.addresses (user_id, name, phone, is_default) select id, 'B', '13800000000', true from buyer
      returning user_id, id`;
    const issuer = await openTokens(runtime);
    tokens = await Promise.all(rows.map((row) => issuer.issue({ role: 'user', id: row.user_id, perms: [] })));
    await issuer.close();
    addresses = rows.map((row) => row.id);
    skus = (await sql<{ id: number }[]>`update catalog.product_skus set stock = 100000 returning id`).map(
      (row) => row.id,
    );
  });
  server = await startProcess(['--data', data]);
});

afterAll(async () => {
  server?.child.kill('SIGKILL');
  await server?.ended;
  const left = await startEmbeddedPostgres({ directory: join(data, 'postgres') });
  await left.stop();
  await rm(data, { recursive: true, force: true });
});

test('the error of a second start on the same data names the first server', async () => {
  const second = await runCommand(['start', '--port', '0', '--data', data]);
  expect(second.code).toBe(3);
  expect(second.stderr).toContain(`already running on ${data} (pid ${server.child.pid}, ${server.url})`);
  expect((await fetch(`${server.url}/ready`)).status).toBe(200);
});

test('orders that are being placed when SIGTERM arrives are finished', async () => {
  const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ address_id: addresses[0], items: [{ sku_id: skus[0] }] });
  const orders = Array.from({ length: 50 }, () =>
    fetch(`${server.url}/api/v1/orders`, { method: 'POST', headers, body }),
  );
  // The first answer shows that the others have arrived too.
  await orders[0];
  server.child.kill('SIGTERM');
  const answers = await Promise.allSettled(orders);
  expect(await server.ended).toBe(0);
  const answered = answers.filter((answer) => answer.status === 'fulfilled').map((answer) => answer.value.status);
  expect(answered.every((status) => status === 200 || status === 503)).toBe(true);
  await withDatabase(async ({ sql }) => expect(await auditViolations(sql)).toEqual([]));
});
