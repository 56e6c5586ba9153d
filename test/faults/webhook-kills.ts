import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@tradepost/postgres';
import { runCommand } from '@tradepost/testing/processes/process';
import { openReceiver, type Receiver } from '../../packages/webhooks/testing/receiver.ts';
import { openDataFolder, openTarget, startShop } from './kills.ts';
import { audit, emptyOutcome, type Outcome, type Scenario } from './scenario.ts';
import { startShoppers } from './shopper-load.ts';
import { until } from './test-shop.ts';

const env = { ALLOWED_PRIVATE_NETWORKS: '127.0.0.1' };
const busyOrders = { short: 60, long: 200 } as const;

/** Fails three of ten requests, and answers the others after up to 50 ms. */
function failing(receiver: Receiver): void {
  let requests = 0;
  receiver.behave((_, response) => {
    requests += 1;
    const status = requests % 10 < 3 ? 503 : 204;
    setTimeout(() => response.writeHead(status).end(), requests % 50);
  });
}

/** Waits until all events are delivered. The pauses between attempts, up to two days, are left out. */
async function drained(sql: Sql): Promise<void> {
  await until(
    'all webhooks are delivered',
    async () => {
      await sql`update webhooks.deliveries set due_at = now() where ready and due_at > now() + interval '1 s'`;
      await sleep(500);
      const [row] = await sql<{ open: number }[]>`
        select (select count(*) from runtime.outbox where dispatched_at is null)::int
             + (select count(*) from webhooks.deliveries where status = 'waiting')::int as open`;
      return row!.open === 0;
    },
    120,
  );
}

/** Every event arrived, and the events of each order in their order, each id counted once. */
async function verifyEvents(sql: Sql, receiver: Receiver, outcome: Outcome): Promise<void> {
  const events = await sql<{ id: string; subject: string }[]>`
    select 'evt_' || o.id as id, o.subject from runtime.outbox o
    where o.occurred_at >= (select min(created_at) from webhooks.endpoints) order by o.id`;
  const counted = receiver.counted().map(({ id }) => id);
  const position = new Map(counted.map((id, index) => [id, index]));
  const missing = events.filter(({ id }) => !position.has(id));
  if (missing.length > 0) outcome.faults.push(`${missing.length} of ${events.length} events never arrived`);
  const last = new Map<string, number>();
  for (const { id, subject } of events) {
    const at = position.get(id) ?? -1;
    if (at < (last.get(subject) ?? -1)) outcome.faults.push(`${id} of ${subject} arrived before an earlier event`);
    last.set(subject, at);
  }
  outcome.confirmed = events.length;
  outcome.requests = receiver.requests.length;
}

export const webhooksKilled: Scenario = {
  name: 'webhooks-killed',
  about:
    'API and worker are killed with -9 while webhooks are sent to a receiver that fails 30 %; every event arrives, in order',
  async run(environment) {
    const outcome = emptyOutcome();
    const folder = await openDataFolder();
    const receiver = await openReceiver();
    failing(receiver);
    const at = openTarget();
    const start = async () => {
      const server = await startShop(folder.data, env);
      at.up(server.url);
      return server;
    };
    let server = await start();
    const added = await runCommand(['webhooks', 'add', receiver.url, '--data', folder.data], { env });
    if (added.code !== 0) throw new Error(`webhooks add: ${added.stderr}`);
    const shoppers = startShoppers(at.target, folder.buyers, folder.skuIds);
    for (const rounds = environment.size === 'long' ? 8 : 2; outcome.rounds < rounds; outcome.rounds += 1) {
      const [orders, requests] = [shoppers.confirmed(), receiver.requests.length];
      await until(
        'orders and webhooks under load',
        () =>
          shoppers.confirmed() >= orders + busyOrders[environment.size] &&
          receiver.requests.length >= requests + busyOrders[environment.size],
        180,
      );
      at.down();
      server.child.kill('SIGKILL');
      await server.ended;
      await audit(folder.sql(), outcome);
      server = await start();
      environment.progress(`killed ${outcome.rounds + 1} of ${rounds} times, ${receiver.accepted.length} webhooks`);
    }
    await shoppers.finish();
    await drained(folder.sql());
    await verifyEvents(folder.sql(), receiver, outcome);
    await audit(folder.sql(), outcome);
    await folder.sql()`
      update webhooks.endpoints set enabled = false, disabled_at = now(), removed_at = now(), secret_sealed = null`;
    server.child.kill('SIGTERM');
    await server.ended;
    await receiver.close();
    return outcome;
  },
};
