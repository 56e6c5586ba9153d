import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@tradepost/runtime';
import { auditViolations } from '@tradepost/testing/audit-violations';
import { runCommandInProcess } from '@tradepost/testing/processes/command';
import { chinese } from '@tradepost/testing/routes/contract';
import {
  moneyFaults,
  moneyOf,
  newNonce,
  notify,
  openPayment,
  paySecret,
  unixNow,
} from '@tradepost/testing/servers/payment-gateway';
import { openShop, type Shop } from '@tradepost/testing/shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The tools that replace a payment gateway in development: a command and a cashier page. */
let shop: Shop;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  shop = await openShop();
  await shop.server.runtime.settings.set('pay.sandbox.secret', paySecret);
  folder = await mkdtemp(join(tmpdir(), 'tradepost-pay-'));
  env = { DATABASE_URL: shop.database.url, TRADEPOST_DATA: folder };
});
afterAll(async () => {
  expect(await auditViolations(shop.database.sql)).toEqual([]);
  expect(await moneyFaults(shop)).toEqual([]);
  await shop.close();
  await rm(folder, { recursive: true, force: true });
});

describe('tradepost pay callback', () => {
  const callback = (...args: string[]) => runCommandInProcess(['pay', 'callback', '--url', shop.url, ...args], { env });
  const signedWith = (secret: string, ...args: string[]) =>
    runCommandInProcess(['pay', 'callback', '--url', shop.url, '--secret-stdin', ...args], { env, input: secret });

  test('pays an order by its id; many notices at once confirm it once, exit code 0', async () => {
    const one = await openPayment(shop);
    const args = [
      '--order',
      String(one.order_id),
      '--trade-no',
      'CLI-1',
      '--times',
      '20',
      '--concurrency',
      '10',
      '--json',
    ];
    const { code, stdout } = await callback(...args);
    expect(code).toBe(0);
    const said = JSON.parse(stdout);
    expect(said).toMatchObject({ payment_no: one.payment_no, amount: 12.9, sent: 20, refused: 0 });
    expect(said.answers[0].data).toEqual({ received: true, payment_no: one.payment_no, status: 'succeeded' });
    expect(stdout).not.toContain(paySecret);
    expect(await moneyOf(shop, one.order_id)).toMatchObject({ status: 2, confirms: 1, refunds: [] });
  });

  test('wrong notices are refused, exit code 1', async () => {
    const one = await openPayment(shop);
    const wrong: [string[], string][] = [
      [['--amount', '0.01'], 'code 409'],
      [['--timestamp', String(unixNow() - 3600)], 'code 403'],
    ];
    for (const [args, expected] of wrong) {
      const { code, stdout } = await callback('--payment-no', one.payment_no, ...args);
      expect([code, stdout.includes(expected)], stdout).toEqual([1, true]);
    }
    const forged = await signedWith('not-the-secret-of-this-shop', '--payment-no', one.payment_no);
    expect([forged.code, forged.stdout.includes('code 403')], forged.stdout).toEqual([1, true]);
    expect((await moneyOf(shop, one.order_id)).status).toBe(1);
  });

  test('needs no database when all options are given, and reports a server that does not answer', async () => {
    const one = await openPayment(shop);
    const notice = ['--payment-no', one.payment_no, '--amount', '12.9', '--secret-stdin'];
    const withoutDatabase = { TRADEPOST_DATA: folder, DATABASE_URL: 'postgres://unused@127.0.0.1:1/none' };
    expect(
      (
        await runCommandInProcess(['pay', 'callback', '--url', shop.url, ...notice], {
          env: withoutDatabase,
          input: paySecret,
        })
      ).code,
    ).toBe(0);
    const silent = await runCommandInProcess(['pay', 'callback', '--url', 'http://127.0.0.1:1', ...notice], {
      ...{ env: withoutDatabase, input: paySecret },
    });
    expect(silent).toMatchObject({ code: 1, stderr: expect.stringContaining('does not answer') });
  });

  test('wrong usage exits with code 2', async () => {
    const wrong = [
      [],
      ['--order', '1', '--payment-no', 'PAY1'],
      ['--order', 'x'],
      ['--order', '1', '--amount', '1.234'],
    ];
    for (const args of wrong) expect((await callback(...args)).code, args.join(' ')).toBe(2);
  });

  test('failed refunds are listed with exit code 1, and can be retried; an unknown refund is refused', async () => {
    const one = await openPayment(shop);
    await shop.call('POST', `/api/v1/orders/${one.order_id}/cancel`, { token: one.token });
    await notify(shop, { payment_no: one.payment_no, amount: one.total });
    const { sql } = shop.database;
    const [row] = await sql`
      update orders.refunds set status = 'failed', finished_at = now(), last_error = 'account closed'
      where order_id = ${one.order_id} returning refund_no`;
    const listed = await runCommandInProcess(['pay', 'refunds'], { env });
    expect(listed).toMatchObject({ code: 1, stdout: expect.stringContaining('account closed') });
    expect(listed.stdout).toContain(row!.refund_no);
    const doctor = await runCommandInProcess(['doctor', '--json'], { env });
    expect(JSON.parse(doctor.stdout).findings).toContainEqual(
      expect.objectContaining({ area: 'refunds', level: 'warning', todo: expect.stringContaining('pay retry-refund') }),
    );
    const retry = (refund_no: string) => runCommandInProcess(['pay', 'retry-refund', refund_no], { env });
    expect((await retry(row!.refund_no)).code).toBe(0);
    expect((await retry('RF0')).code).toBe(1);
    expect((await sql`select status from orders.refunds where refund_no = ${row!.refund_no}`)[0]!.status).toBe(
      'pending',
    );
  });
});

describe('the cashier page', () => {
  const page = (payment_no: string, lang = 'en') => fetch(`${shop.url}/pay/sandbox/${payment_no}?lang=${lang}`);

  test('shows the amount in the language of the reader, allows no other script, and pays once', async () => {
    const one = await openPayment(shop);
    const answer = await page(one.payment_no);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await answer.text();
    expect(text).toContain('12.90 CNY');
    expect(text).toContain(one.order_no);
    expect(await (await page(one.payment_no, 'zh-CN')).text()).toMatch(chinese);
    const press = () => shop.call('POST', `/api/pay/sandbox/${one.payment_no}`, { body: {} });
    const answers = await Promise.all([press(), press(), press()]);
    expect(answers.map((pressed) => pressed.data?.status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(await moneyOf(shop, one.order_id)).toMatchObject({ status: 2, confirms: 1, refunds: [] });
    expect(await (await page(one.payment_no)).text()).not.toContain('<button');
  });

  test('a return address is escaped in the page', async () => {
    const one = await openPayment(shop);
    const return_url = 'https://shop.example/?a="><script>alert(1)</script>&b=\'';
    await shop.call('POST', '/api/pay/create', { token: one.token, body: { order_id: one.order_id, return_url } });
    expect(await (await page(one.payment_no)).text()).not.toContain('<script>alert');
  });

  test('an unknown payment and an instant payment get 404', async () => {
    const one = await openPayment(shop);
    await shop.call('POST', `/api/v1/orders/${one.order_id}/pay`, { token: one.token });
    const [row] = await shop.database.sql`
      select id from orders.payments where order_id = ${one.order_id} and provider = 'instant'`;
    for (const payment_no of ['PAY0', `I${row!.id}`, '%00', '%F0%9F']) {
      const answer = await page(payment_no);
      expect([400, 404], payment_no).toContain(answer.status);
      expect(await answer.text()).not.toContain('12.90');
    }
  });
});

test('in production there is no cashier page, and no refund is simulated', async () => {
  const { openProviders, redirectProviders } = await import('./providers/open-providers.ts');
  const { ownProviders } = await import('./providers/own-providers.ts');
  const { runtime } = shop.server;
  const { config } = loadConfig({ env: { NODE_ENV: 'production' } });
  const [sandbox] = redirectProviders(openProviders({ ...runtime, config }, ownProviders));
  expect(() => sandbox!.ready()).toThrow('pay.sandbox.cashier_url is missing');
  const money = {
    payment_no: 'PAY1',
    trade_no: 'T',
    amount: 1,
    payment_amount: 1,
    currency: 'CNY',
    reason: 'paid_twice',
  };
  const refund = () => sandbox!.refund({ refund_no: `RF${newNonce()}`, ...money }, new AbortController().signal);
  await expect(refund()).rejects.toThrow('pay.sandbox.refund_url is not set');
  const production = await openShop({ production: true, logLevel: 'silent' });
  try {
    expect(production.server.routes.some((route) => route.path.startsWith('/api/pay/sandbox'))).toBe(false);
    expect((await fetch(`${production.url}/pay/sandbox/PAY1`)).status).toBe(404);
  } finally {
    await production.close();
  }
});
