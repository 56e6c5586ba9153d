import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createShopper } from '@tradepost/identity';
import { defer } from '@tradepost/testing/processes/cleanup';
import { type RunningServer, startProcess } from '@tradepost/testing/processes/process';
import { freePort } from '../bench/server.ts';
import { audit, check, emptyOutcome, type Outcome, type Scenario, tally } from './scenario.ts';
import {
  type Buyer,
  type Instance,
  openPayment,
  openTestShop,
  order,
  payOrCancel,
  sendNotice,
  type TestShop,
  until,
} from './test-shop.ts';

/** Starts Redis on a port of this machine, without persistence. Answers null when it is not installed. */
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

const ready = async ({ server }: Instance) => (await server.runtime.parts.check()).every(({ ok }) => ok);

const password = 'correct horse battery';

/** Logs in and out on one instance, and checks that the other instance accepts and then refuses the token. */
async function loginAndOut(testShop: TestShop, username: string, outcome: Outcome, when: string): Promise<void> {
  const { first, second } = testShop;
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
  about: 'Redis is killed with -9 while 32 clients order on two instances: orders, logins and logouts continue',
  async run(environment) {
    const outcome = emptyOutcome();
    const port = await freePort();
    let redis = await startRedis(port);
    if (!redis) return { ...outcome, skipped: 'redis-server is not installed' };
    const testShop = await openTestShop(environment.clusterUrl, { redisUrl: `redis://127.0.0.1:${port}` });
    const { first, second } = testShop;
    await createShopper(testShop.sql, { username: 'ann', password, nickname: 'Ann' });
    const { sku_ids } = await testShop.goods({ stocks: [1_000_000] });
    const crowd = await testShop.buyers(32);
    let ordering = true;
    const answers: { status: number; code: number }[] = [];
    const shop = async (buyer: Buyer, place: number) => {
      for (let turn = 0; ordering; turn += 1) {
        const at = (place + turn) % 2 ? first : second;
        const placed = await order(at, buyer, sku_ids);
        answers.push(placed);
        if (placed.code === 0) answers.push(await payOrCancel(at, turn % 3 ? 'pay' : 'cancel', buyer, placed.data.id));
      }
    };
    const shopping = Promise.all(crowd.map(shop));
    shopping.catch(() => {});
    const more = (count: number) => {
      const from = answers.length;
      return until('orders under load', () => answers.length >= from + count, 120);
    };
    for (const rounds = environment.size === 'long' ? 8 : 1; outcome.rounds < rounds; outcome.rounds += 1) {
      await more(100);
      await killed(redis);
      await more(200);
      await loginAndOut(testShop, 'ann', outcome, 'without Redis');
      redis = (await startRedis(port))!;
      await until('both instances are ready again', async () => (await ready(first)) && (await ready(second)));
      await loginAndOut(testShop, 'ann', outcome, 'with Redis again');
      await more(50);
      environment.progress(`killed ${outcome.rounds + 1} of ${rounds} times, ${answers.length} answers`);
    }
    ordering = false;
    await shopping;
    outcome.requests += answers.length;
    outcome.confirmed = answers.filter(({ code }) => code === 0).length;
    outcome.refused = answers.length - outcome.confirmed;
    check(outcome, 'answers', tally(answers), { 0: answers.length });
    await audit(testShop.sql, outcome);
    await testShop.close();
    await killed(redis);
    return outcome;
  },
};

/** A payment provider that confirms refunds. It counts calls per refund, and `onRefund` can run before an answer. */
async function openPaymentProvider() {
  const calls = new Map<string, number>();
  let beforeAnswer: (() => Promise<void>) | null = null;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { refund_no } = JSON.parse(body) as { refund_no: string };
      calls.set(refund_no, (calls.get(refund_no) ?? 0) + 1);
      const answer = () => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ refund_no, status: 'succeeded', refund_id: `G-${refund_no}` }));
      };
      // The provider has accepted the refund when the worker dies.
      if (beforeAnswer) void beforeAnswer().then(answer);
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
    calls,
    onRefund(work: (() => Promise<void>) | null) {
      beforeAnswer = work;
    },
    close,
  };
}

async function startWorker({ databaseUrl }: TestShop): Promise<RunningServer> {
  const env = { DATABASE_URL: databaseUrl };
  const worker = await startProcess(['--only', 'worker', '--seed', 'none'], env, /Worker\s+running/);
  const forget = defer(async () => worker.child.kill('SIGKILL'));
  void worker.ended.then(forget);
  return worker;
}

async function expireHalfway(testShop: TestShop, outcome: Outcome, orders: number): Promise<void> {
  const { sql } = testShop;
  const { sku_ids } = await testShop.goods({ stocks: [orders] });
  const ids = await Promise.all(
    (await testShop.buyers(orders)).map(
      async (buyer) => (await order(testShop.first, buyer, sku_ids)).data.id as number,
    ),
  );
  outcome.requests += orders;
  outcome.confirmed += orders;
  await sql`update orders.orders set expires_at = now() - interval '1 minute' where id = any(${ids})`;
  const worker = await startWorker(testShop);
  // The sweep waits for a locked order and is killed there, within its transaction.
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
  const next = await startWorker(testShop);
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

async function refundHalfway(testShop: TestShop, outcome: Outcome, refunds: number): Promise<void> {
  const { sql, first } = testShop;
  const provider = await openPaymentProvider();
  await first.server.runtime.settings.setMany({ 'pay.sandbox.refund_url': provider.url });
  const { sku_ids } = await testShop.goods({ stocks: [refunds] });
  const ids = await Promise.all(
    (await testShop.buyers(refunds)).map(async (buyer) => {
      const { data } = await order(first, buyer, sku_ids);
      const notice = await openPayment(first, buyer, data.id);
      await payOrCancel(first, 'cancel', buyer, data.id);
      check(outcome, 'late money', (await sendNotice(first, notice)).data?.status, 'refunding');
      return data.id as number;
    }),
  );
  outcome.requests += refunds * 4;
  let worker: RunningServer | null = null;
  let calls = 0;
  const dead = Promise.withResolvers<void>();
  provider.onRefund(async () => {
    calls += 1;
    if (calls <= refunds / 2) return;
    await until('the worker process has started', () => worker !== null);
    worker!.child.kill('SIGKILL');
    await worker!.ended;
    dead.resolve();
  });
  worker = await startWorker(testShop);
  await dead.promise;
  provider.onRefund(null);
  // Jobs of the dead worker stay locked. Older timestamps let the sweep find them now.
  await sql`update orders.refunds set updated_at = updated_at - interval '10 minutes' where status = 'pending'`;
  await sql`
    update graphile_worker._private_jobs set locked_at = locked_at - interval '10 minutes' where locked_at is not null`;
  await first.job('payments.sweep');
  const next = await startWorker(testShop);
  const open = async () =>
    (
      await sql<{ n: number }[]>`
      select count(*)::int as n from orders.refunds where order_id = any(${ids}) and status <> 'succeeded'`
    )[0]!.n;
  await until('another worker refunds the rest', async () => (await open()) === 0).catch((error: Error) =>
    outcome.faults.push(error.message),
  );
  check(outcome, 'refunds that the provider knows', provider.calls.size, refunds);
  const [row] = await sql`
    select count(*)::int as refunds, count(distinct payment_id)::int as payments from orders.refunds
    where order_id = any(${ids})`;
  check(outcome, 'refunds', row, { refunds, payments: refunds });
  next.child.kill('SIGTERM');
  check(outcome, 'exit code of the worker', await next.ended, 0);
  await provider.close();
}

const workerKilled: Scenario = {
  name: 'worker-killed',
  about: 'the worker is killed with -9 while it cancels unpaid orders and while it refunds; another worker finishes',
  async run(environment) {
    const outcome = emptyOutcome();
    const testShop = await openTestShop(environment.clusterUrl);
    for (const rounds = environment.size === 'long' ? 5 : 1; outcome.rounds < rounds; outcome.rounds += 1) {
      await expireHalfway(testShop, outcome, environment.size === 'long' ? 200 : 20);
      await refundHalfway(testShop, outcome, environment.size === 'long' ? 40 : 10);
      environment.progress(`killed ${outcome.rounds + 1} of ${rounds} times each`);
    }
    await audit(testShop.sql, outcome);
    await testShop.close();
    return outcome;
  },
};

export const outages: readonly Scenario[] = [redisKilled, workerKilled];
