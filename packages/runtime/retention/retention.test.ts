import { randomUUID } from 'node:crypto';
import { assemble, audits, retention } from '@tradepost/app';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runAudits, runRetention } from '../index.ts';

/** Old rows of tables that grow for ever are deleted. Ledgers keep all rows, and the audits find nothing. */
let shop: Shop;
let user: number;
beforeAll(async () => {
  shop = await openShop();
  user = (await shop.shopper()).id;
});
afterAll(() => shop?.close());

const run = async () =>
  Object.fromEntries((await runRetention(shop.server.runtime, retention)).map(({ rule, rows }) => [rule, rows]));
const ids = async (table: string) => {
  const { sql } = shop.database;
  return (await sql<{ id: number }[]>`select id from ${sql(table)} order by id`).map(({ id }) => id);
};
const brokenAudits = async () => {
  const results = await runAudits(shop.database.sql, audits);
  return results.filter(({ rows, error }) => rows.length > 0 || error !== null).map(({ name, rows }) => [name, rows]);
};
async function insertToken(revokedDaysAgo: number | null): Promise<number> {
  const { sql } = shop.database;
  const [row] = await sql<{ id: number }[]>`
    with made as (
      insert into gateway.api_tokens (user_id, prefix, token_hash, revoked_at)
      values (${user}, 'tp-x', ${Buffer.from(randomUUID())}, now() - make_interval(days => ${revokedDaysAgo}))
      returning id, revoked_at
    ), trail as (
      insert into gateway.token_changes (token_id, user_id, action, changed_by, changed_at)
      select id, ${user}, action, 'cli', now() - interval '1000 days' from made
      cross join unnest(array['create', 'revoke']) as a (action) where action = 'create' or revoked_at is not null
    )
    select id from made`;
  return row!.id;
}
const insertUsage = (token: number, of: { days: number; count?: number; state?: 'open' | 'done' }) => shop.database.sql`
  insert into gateway.usage (id, user_id, token_id, endpoint, model, state, estimated_input_tokens, max_output_tokens,
    started_at, ended_at)
  select gen_random_uuid(), ${user}, ${token}, 'chat', 'm', ${of.state ?? 'done'}, 1, 1,
         now() - make_interval(days => ${of.days}), case ${of.state ?? 'done'} when 'done' then now() end
  from generate_series(1, ${of.count ?? 1})`;
const usageLeft = async () => {
  const [row] = await shop.database.sql<{ n: number }[]>`select count(*)::int as n from gateway.usage`;
  return row!.n;
};

test('no rule deletes from a ledger', () => {
  const ledgers =
    /stock_|inventory_(stock|reservation)|order_(items|history|inventory)|orders\.(orders|payments|refunds)|notice|price_changes|shipments/;
  expect(retention.map(({ table }) => table).filter((table) => ledgers.test(table))).toEqual([]);
  expect(retention.length).toBeGreaterThan(8);
});

test('old usage records are deleted in batches; open and recent ones are kept, and 0 keeps all', async () => {
  const { settings } = shop.server.runtime;
  const token = await insertToken(null);
  await insertUsage(token, { days: 401, count: 12_000 });
  await insertUsage(token, { days: 399, count: 3 });
  await insertUsage(token, { days: 500, state: 'open' });
  await settings.set('retention.gateway_usage_days', 0);
  expect(await run()).toEqual({});
  await settings.unset('retention.gateway_usage_days');
  expect(await run()).toEqual({ gateway_usage: 12_000 });
  expect(await usageLeft()).toBe(4);
  const { values } = await shop.server.runtime.metrics.retentionRows.get();
  expect(values).toMatchObject([{ labels: { rule: 'gateway_usage' }, value: 12_000 }]);
});

test('an ended API token is deleted when its usage records are deleted, and its change log after it', async () => {
  const [alive, recent, used, unused] = [
    await insertToken(null),
    await insertToken(10),
    await insertToken(500),
    await insertToken(500),
  ];
  await insertUsage(used, { days: 100 });
  expect(await run()).toEqual({ gateway_tokens: 1, gateway_token_changes: 2 });
  expect(await ids('gateway.api_tokens')).toEqual(expect.arrayContaining([alive, recent, used]));
  expect(await ids('gateway.api_tokens')).not.toContain(unused);
  expect(await brokenAudits()).toEqual([]);
});

describe('tasks for the external warehouse', () => {
  /** Tasks of one order: status, and the days since its end. */
  async function insertTasks(of: { state: string; tasks: [action: string, status: string, days: number][] }) {
    const { sql } = shop.database;
    const orderNo = randomUUID();
    await sql`
      insert into inventory.order_inventory_state (order_no, provider, status)
      values (${orderNo}, 'external_wms', ${of.state})`;
    const made: number[] = [];
    for (const [action, status, days] of of.tasks) {
      const [row] = await sql<{ id: number }[]>`
        insert into inventory.inventory_integration_tasks (provider, biz_type, biz_no, action, request_id, sequence_key,
          payload, status, max_attempts, backoff_seconds, completed_at)
        values ('external_wms', 'order', ${orderNo}, ${action}, ${randomUUID()}, ${orderNo}, '{}', ${status}, 1, 0,
          case when ${status} in ('success', 'failed') then now() - make_interval(days => ${days}) end)
        returning id`;
      made.push(row!.id);
    }
    return made;
  }

  test('are deleted together when the stock of their order is settled and all are old; failed tasks are kept', async () => {
    const kept = [
      ...(await insertTasks({
        state: 'confirmed',
        tasks: [
          ['reserve', 'success', 100],
          ['confirm', 'success', 80],
        ],
      })),
      ...(await insertTasks({ state: 'reserved', tasks: [['reserve', 'success', 100]] })),
      ...(await insertTasks({ state: 'failed', tasks: [['reserve', 'failed', 100]] })),
      ...(await insertTasks({
        state: 'pending',
        tasks: [
          ['reserve', 'success', 100],
          ['confirm', 'pending', 0],
        ],
      })),
    ];
    await insertTasks({
      state: 'confirmed',
      tasks: [
        ['reserve', 'success', 100],
        ['confirm', 'success', 95],
      ],
    });
    await insertTasks({
      state: 'released',
      tasks: [
        ['reserve', 'success', 100],
        ['release', 'success', 91],
      ],
    });
    expect(await brokenAudits()).toEqual([]);
    expect(await run()).toEqual({ warehouse_tasks: 4 });
    expect(await ids('inventory.inventory_integration_tasks')).toEqual(kept);
    expect(await brokenAudits()).toEqual([]);
  });
});

test('old keys, codes, ended tokens, nonces, change logs and reminders are deleted, recent ones are kept', async () => {
  const { sql } = shop.database;
  await run();
  for (const days of [1, 3_000]) {
    const at = sql`now() - make_interval(days => ${days})`;
    // A row of one day is recent, except when it has expired.
    const name = `d${days}`;
    await sql`insert into runtime.idempotency_keys (caller, key, fingerprint, instance, expires_at)
      values ('user:1', ${name}, '', '', ${at} + interval '1 day 1 hour')`;
    await sql`insert into runtime.setting_changes (key, changed_by, changed_at) values (${name}, 'cli', ${at})`;
    await sql`insert into identity.revoked_tokens (jti, expires_at) values (${name}, ${at} + interval '1 hour')`;
    await sql`insert into identity.token_floors (role, account_id, generation, raised_at)
      values ('user', ${days + 1_000_000}, 1, ${at})`;
    await sql`insert into identity.sms_codes (phone, request_id, requested_at)
      values (${name}, gen_random_uuid(), ${at} + interval '1 hour')`;
    await sql`insert into orders.payment_nonces (provider, nonce, digest, created_at)
      values ('sandbox', ${name}, '', ${at} + interval '1 hour')`;
    await sql`insert into inventory.external_callbacks (callback_id, request_id, status, body, outcome, received_at)
      values (${name}, 'r', 'success', '{}', 'unknown_task', ${at})`;
    await sql`insert into orders.reminders (order_id, channel, status, staff_id, created_at)
      values (1, 'sms', 'skipped', 1, ${at})`;
  }
  expect(await run()).toEqual({
    idempotency_keys: 1,
    setting_changes: 1,
    revoked_tokens: 1,
    token_floors: 1,
    sms_codes: 1,
    payment_nonces: 1,
    warehouse_callbacks: 1,
    reminders: 1,
  });
});

test('the command shows the rules with their days, and deletes old rows', async () => {
  const of = ['--database-url', shop.database.url];
  await shop.server.runtime.settings.set('retention.gateway_usage_days', 0);
  const list = await runCommandInProcess(['retention', 'list', '--json', ...of]);
  expect(list.code).toBe(0);
  const rules = JSON.parse(list.stdout);
  expect(rules.map((rule: { name: string }) => rule.name)).toEqual(retention.map(({ name }) => name));
  expect(rules).toContainEqual(
    expect.objectContaining({ name: 'gateway_usage', days: null, setting: 'retention.gateway_usage_days' }),
  );
  expect((await runCommandInProcess(['retention', 'list', ...of])).stdout).toMatch(
    /gateway_usage +for ever +retention\.gateway_usage_days/,
  );
  expect(JSON.parse((await runCommandInProcess(['retention', 'run', '--json', ...of])).stdout)).toEqual([]);
  await insertUsage(await insertToken(null), { days: 3_000 });
  await shop.server.runtime.settings.unset('retention.gateway_usage_days');
  const once = await runCommandInProcess(['retention', 'run', '--json', ...of]);
  expect(JSON.parse(once.stdout)).toContainEqual({ rule: 'gateway_usage', rows: 1 });
});

test('a worker runs the rules every hour', async () => {
  const { runtime } = shop.server;
  const { sql } = shop.database;
  await sql`insert into runtime.setting_changes (key, changed_by, changed_at) values ('x', 'cli', now() - interval '9 years')`;
  const assembled = await assemble(runtime);
  const task = assembled.crons.find((cron) => cron.task === 'runtime.retention');
  expect(task?.match).toMatch(/^\d+ \* \* \* \*$/);
  await assembled.tasks['runtime.retention']!({}, { log: runtime.log, signal: new AbortController().signal });
  await assembled.close();
  expect(await sql`select from runtime.setting_changes where key = 'x'`).toHaveLength(0);
});
