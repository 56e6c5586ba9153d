import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createShopper } from '@tradepost/identity';
import { defer } from '@tradepost/testing/processes/cleanup';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { freePort } from '../bench/server.ts';
import { audit, check, nothingYet, type Outcome, type Scenario, tally } from './scenario.ts';
import { act, type Buyer, type Instance, openMoney, openStage, order, type Stage, tell, until } from './stage.ts';

/** Redis on a port of this machine, without a file; null when it is not installed. */
async function startRedis(port: number): Promise<ChildProcess | null> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const failed = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true));
    child.once('spawn', () => resolve(false));
  });
  if (failed) return null;
  defer(async () => child.kill('SIGKILL'));
  await until('redis-server takes connections', () => /Ready to accept connections/i.test(output));
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await ended;
}

const ready = async ({ url }: Instance) => {
  const answer = await fetch(`${url}/ready`);
  await answer.arrayBuffer();
  return answer.status === 200;
};

const password = 'correct horse battery';

/** Logs in on one instance, logs out there, and looks whether the other one has heard of it. */
async function loginAndOut(stage: Stage, username: string, outcome: Outcome, when: string): Promise<void> {
  const { first, second } = stage;
  const login = await first.call('POST', '/api/auth/login', { body: { username, password } });
  outcome.requests += 3;
  check(outcome, `login ${when}`, [login.status, login.code], [200, 0]);
  const { token } = login.data ?? {};
  check(
    outcome,
    `the token on the other instance ${when}`,
    (await second.call('GET', '/api/v1/cart', { token })).code,
    0,
  );
  await first.call('POST', '/api/auth/logout', { token });
  await until(
    `a logout ${when} ends the token on the other instance`,
    async () => (await second.call('GET', '/api/v1/cart', { token })).code !== 0,
    5,
  ).catch((error: Error) => outcome.faults.push(error.message));
}

const redisKilled: Scenario = {
  name: 'redis-killed',
  about: 'kill -9 of Redis while 32 clients order on two instances: orders, logins and logouts go on',
  async run(ground) {
    const outcome = nothingYet();
    const port = await freePort();
    let redis = await startRedis(port);
    if (!redis) return { ...outcome, skipped: 'redis-server is not installed' };
    const stage = await openStage(ground.clusterUrl, { redisUrl: `redis://127.0.0.1:${port}` });
    const { first, second } = stage;
    await createShopper(stage.sql, { username: 'ann', password, nickname: 'Ann' });
    const { sku_ids } = await stage.goods({ stocks: [1_000_000] });
    const crowd = await stage.buyers(32);
    let ordering = true;
    const answers: { status: number; code: number }[] = [];
    const shop = async (buyer: Buyer, place: number) => {
      for (let turn = 0; ordering; turn += 1) {
        const at = (place + turn) % 2 ? first : second;
        const placed = await order(at, buyer, sku_ids);
        answers.push(placed);
        if (placed.code === 0) answers.push(await act(at, turn % 3 ? 'pay' : 'cancel', buyer, placed.data.id));
      }
    };
    const shopping = Promise.all(crowd.map(shop));
    shopping.catch(() => {});
    const more = (count: number) => {
      const from = answers.length;
      return until('orders under load', () => answers.length >= from + count, 30);
    };
    for (const rounds = ground.size === 'long' ? 8 : 1; outcome.rounds < rounds; outcome.rounds += 1) {
      await more(100);
      await killed(redis);
      await more(200);
      await loginAndOut(stage, 'ann', outcome, 'without Redis');
      redis = (await startRedis(port))!;
      await until('both instances are ready again', async () => (await ready(first)) && (await ready(second)));
      await loginAndOut(stage, 'ann', outcome, 'with Redis again');
      await more(50);
      ground.progress(`killed ${outcome.rounds + 1} of ${rounds} times, ${answers.length} answers`);
    }
    ordering = false;
    await shopping;
    outcome.requests += answers.length;
    outcome.confirmed = answers.filter(({ code }) => code === 0).length;
    outcome.refused = answers.length - outcome.confirmed;
    check(outcome, 'answers', tally(answers), { 0: answers.length });
    await audit(stage.sql, outcome);
    await stage.close();
    await killed(redis);
    return outcome;
  },
};

/** What stands for the gateway: pays a refund back once per number, and tells when it is asked. */
async function openGateway() {
  const asked = new Map<string, number>();
  let onAsked: (() => Promise<void>) | null = null;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { refund_no } = JSON.parse(body) as { refund_no: string };
      asked.set(refund_no, (asked.get(refund_no) ?? 0) + 1);
      const answer = () => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ refund_no, status: 'succeeded', refund_id: `G-${refund_no}` }));
      };
      // The money is on its way back when the worker dies.
      if (onAsked) void onAsked().then(answer);
      else answer();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/refund`,
    asked,
    whenAsked(work: (() => Promise<void>) | null) {
      onAsked = work;
    },
    close,
  };
}

async function startWorker({ databaseUrl }: Stage): Promise<RunningServer> {
  const env = { DATABASE_URL: databaseUrl };
  const worker = await startProcess(['--only', 'worker', '--seed', 'none'], env, /Worker\s+running/);
  const forget = defer(async () => worker.child.kill('SIGKILL'));
  void worker.ended.then(forget);
  return worker;
}

async function expireHalfway(stage: Stage, outcome: Outcome, orders: number): Promise<void> {
  const { sql } = stage;
  const { sku_ids } = await stage.goods({ stocks: [orders] });
  const ids = await Promise.all(
    (await stage.buyers(orders)).map(async (buyer) => (await order(stage.first, buyer, sku_ids)).data.id as number),
  );
  outcome.requests += orders;
  outcome.confirmed += orders;
  await sql`update orders.orders set expires_at = now() - interval '1 minute' where id = any(${ids})`;
  const worker = await startWorker(stage);
  // The sweep comes to an order that somebody holds, and is killed there, within its transaction.
  await sql.begin(async (tx) => {
    await tx`select from orders.orders where id = ${ids[orders / 2]!} for update`;
    await sql`select graphile_worker.add_job('orders.expire', '{}'::json)`;
    await until('the sweep waits for the order', async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
      return waiting.length > 0;
    });
    await killed(worker.child);
  });
  const next = await startWorker(stage);
  await sql`select graphile_worker.add_job('orders.expire', '{}'::json)`;
  const open = async () =>
    (await sql<{ n: number }[]>`select count(*)::int as n from orders.orders where id = any(${ids}) and status = 1`)[0]!
      .n;
  await until('another worker cancels the rest', async () => (await open()) === 0);
  const [moves] = await sql<{ n: number }[]>`
    select count(*)::int as n from orders.order_history where order_id = any(${ids}) and to_status = 6`;
  check(outcome, 'cancellations', moves!.n, orders);
  next.child.kill('SIGTERM');
  check(outcome, 'exit code of the worker', await next.ended, 0);
}

async function refundHalfway(stage: Stage, outcome: Outcome, refunds: number): Promise<void> {
  const { sql, first } = stage;
  const gateway = await openGateway();
  await first.server.runtime.settings.setMany({ 'pay.sandbox.refund_url': gateway.url });
  const { sku_ids } = await stage.goods({ stocks: [refunds] });
  const ids = await Promise.all(
    (await stage.buyers(refunds)).map(async (buyer) => {
      const { data } = await order(first, buyer, sku_ids);
      const money = await openMoney(first, buyer, data.id);
      await act(first, 'cancel', buyer, data.id);
      check(outcome, 'late money', (await tell(first, money)).data?.status, 'refunding');
      return data.id as number;
    }),
  );
  outcome.requests += refunds * 4;
  let worker: RunningServer | null = null;
  let calls = 0;
  const dead = Promise.withResolvers<void>();
  gateway.whenAsked(async () => {
    calls += 1;
    if (calls <= refunds / 2) return;
    await until('the worker is known', () => worker !== null);
    worker!.child.kill('SIGKILL');
    await worker!.ended;
    dead.resolve();
  });
  worker = await startWorker(stage);
  await dead.promise;
  gateway.whenAsked(null);
  // What it had in hand stays locked; as if its sweep came later.
  await sql`update orders.refunds set updated_at = updated_at - interval '10 minutes' where status = 'pending'`;
  await sql`
    update graphile_worker._private_jobs set locked_at = locked_at - interval '10 minutes' where locked_at is not null`;
  await first.job('payments.sweep');
  const next = await startWorker(stage);
  const open = async () =>
    (
      await sql<{ n: number }[]>`
      select count(*)::int as n from orders.refunds where order_id = any(${ids}) and status <> 'succeeded'`
    )[0]!.n;
  await until('another worker pays the rest back', async () => (await open()) === 0).catch((error: Error) =>
    outcome.faults.push(error.message),
  );
  check(outcome, 'refunds that the gateway knows', gateway.asked.size, refunds);
  const [row] = await sql`
    select count(*)::int as refunds, count(distinct payment_id)::int as payments from orders.refunds
    where order_id = any(${ids})`;
  check(outcome, 'refunds', row, { refunds, payments: refunds });
  next.child.kill('SIGTERM');
  check(outcome, 'exit code of the worker', await next.ended, 0);
  await gateway.close();
}

const workerKilled: Scenario = {
  name: 'worker-killed',
  about: 'kill -9 of the worker in the middle of cancelling unpaid orders and of paying back; another one finishes',
  async run(ground) {
    const outcome = nothingYet();
    const stage = await openStage(ground.clusterUrl);
    for (const rounds = ground.size === 'long' ? 5 : 1; outcome.rounds < rounds; outcome.rounds += 1) {
      await expireHalfway(stage, outcome, ground.size === 'long' ? 200 : 20);
      await refundHalfway(stage, outcome, ground.size === 'long' ? 40 : 10);
      ground.progress(`killed ${outcome.rounds + 1} of ${rounds} times each`);
    }
    await audit(stage.sql, outcome);
    await stage.close();
    return outcome;
  },
};

export const outages: readonly Scenario[] = [redisKilled, workerKilled];
