import { randomBytes } from 'node:crypto';
import { toMinor, toWire } from '@tradepost/core';
import type { CommandContext, RegisterCommand } from '@tradepost/module';
import { ConfigError, enqueueJobs } from '@tradepost/runtime';
import {
  configOf,
  databaseOptions,
  exitCodes,
  type GlobalOptions,
  green,
  print,
  printJson,
  progress,
  readSecret,
  red,
  refuseSecretOption,
  serverUrl,
  table,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import pLimit from 'p-limit';
import { z } from 'zod';
import { orderErrors } from '../../errors.ts';
import { signedHeaders } from '../pay-signature.ts';
import { selectPaymentForNotice } from '../payment-store.ts';
import { checkJob } from '../provider-calls/check-payment.ts';
import { selectPaymentAtProvider } from '../provider-calls/provider-call-store.ts';
import { sandboxSecret } from '../providers/sandbox/settings.ts';
import { retryRefund } from '../refund-payments.ts';
import { selectRefunds } from '../refund-store.ts';
import { addReconcile } from './reconcile-command.ts';

type CallbackOptions = GlobalOptions & {
  paymentNo?: string;
  order?: number;
  amount?: number;
  currency?: string;
  status: 'succeeded' | 'failed';
  tradeNo?: string;
  times: number;
  concurrency: number;
  nonce?: string;
  timestamp?: string;
  secretStdin?: boolean;
  url?: string;
};
type Notice = { payment_no: string; amount: number; currency: string; secret: string };
const envelope = z.object({ code: z.number(), message: z.string(), data: z.unknown() });
type Answer = { http: number; code: number; message: string; data: unknown; ms: number };

const maxId = Number.MAX_SAFE_INTEGER;
function amountOf(text: string): number {
  const amount = Number(text);
  if (!/^\d+(\.\d{1,2})?$/.test(text)) throw new InvalidArgumentError('An amount looks like 12.90.');
  return amount;
}

/** The notice to send and the key that signs it: from the options, the rest from the database of the shop. */
async function noticeOf(context: CommandContext, options: CallbackOptions): Promise<Notice> {
  const { paymentNo, order, amount, currency } = options;
  const secret = options.secretStdin ? await readSecret('Secret') : undefined;
  if (paymentNo && amount !== undefined && secret)
    return { payment_no: paymentNo, amount, currency: currency ?? 'CNY', secret };
  return context.withRuntime(databaseOptions(options), async ({ sql, settings }) => {
    const key = secret ?? settings.get(sandboxSecret);
    if (key === '')
      throw new ConfigError([
        `${sandboxSecret.key}: the notice is signed with it (tradepost settings set ${sandboxSecret.key})`,
      ]);
    const by = paymentNo === undefined ? { order_id: order ?? 0 } : { payment_no: paymentNo };
    const found = await selectPaymentForNotice(sql, by);
    if (!found && !paymentNo)
      throw new Error(`order ${order} has no payment of a redirect provider: open one with POST /api/pay/create`);
    return {
      payment_no: paymentNo ?? found?.payment_no ?? '',
      // A notice about an unknown payment can be sent too: its answer is a refusal.
      amount: amount ?? (found ? toWire(found.amount) : 0),
      currency: currency ?? found?.currency ?? 'CNY',
      secret: key,
    };
  });
}

async function send(url: string, body: string, headers: Record<string, string>): Promise<Answer> {
  const begun = performance.now();
  const response = await fetch(`${url}/api/pay/callback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-language': 'en', ...headers },
    body,
    signal: AbortSignal.timeout(30_000),
  }).catch((error: Error & { cause?: Error }) => {
    throw new Error(`${url} does not answer: ${error.cause?.message ?? error.message}`);
  });
  const { code, message, data } = envelope.parse(await response.json());
  return { http: response.status, code, message, data, ms: Math.round((performance.now() - begun) * 10) / 10 };
}

const callback =
  (context: CommandContext) =>
  async (options: CallbackOptions, command: Command): Promise<void> => {
    if ((options.paymentNo === undefined) === (options.order === undefined))
      command.error('error: give either --payment-no <number> or --order <id>', { exitCode: exitCodes.usage });
    const { config } = configOf(databaseOptions(options));
    const url = await serverUrl(options.url, config);
    const { secret, ...notice } = await noticeOf(context, options);
    const trade_no = options.tradeNo ?? `CLI-${randomBytes(6).toString('hex')}`;
    const body = JSON.stringify({
      ...{ provider: 'sandbox', ...notice, amount: toWire(toMinor(notice.amount)), status: options.status, trade_no },
      paid_at: new Date().toISOString(),
    });
    const sendNotice = () => {
      const timestamp = options.timestamp ?? String(Math.trunc(Date.now() / 1000));
      const nonce = options.nonce ?? randomBytes(16).toString('hex');
      return send(url, body, signedHeaders(secret, { timestamp, nonce, body }));
    };
    if (!options.json) progress(`${url}/api/pay/callback: ${body}`);
    const limit = pLimit(options.concurrency);
    const answers = await Promise.all(Array.from({ length: options.times }, () => limit(sendNotice)));
    const refused = answers.filter((answer) => answer.code !== 0).length;
    if (options.json)
      printJson({ url, ...notice, trade_no, status: options.status, sent: answers.length, refused, answers });
    else {
      const kinds = new Map<string, number>();
      for (const { http, code, message, data } of answers) {
        const line = `${code === 0 ? green('accepted') : red('refused')}  HTTP ${http}, code ${code}, ${message}${data ? ` ${JSON.stringify(data)}` : ''}`;
        kinds.set(line, (kinds.get(line) ?? 0) + 1);
      }
      for (const [line, times] of kinds) print(options.times > 1 ? `${times} x  ${line}` : line);
    }
    if (refused > 0) process.exitCode = exitCodes.failed;
  };

function addCallback(group: Command, context: CommandContext): void {
  const command = withDatabaseOptions(
    group
      .command('callback')
      .description('simulate a payment gateway: send signed notices of the provider sandbox to a running server')
      .option('--payment-no <number>', 'payment number that POST /api/pay/create returned')
      .option('--order <id>', 'send a notice about the latest payment of this order', wholeNumber(1, maxId))
      .option('--amount <number>', 'paid amount (default: amount of the payment)', amountOf)
      .option('--currency <code>', 'currency (default: currency of the payment)')
      .addOption(
        new Option('--status <status>', 'outcome of the payment').choices(['succeeded', 'failed']).default('succeeded'),
      )
      .option('--trade-no <number>', 'transaction number of the gateway (default: a new one)')
      .option('--times <number>', 'number of times the same notice is sent', wholeNumber(1, 100_000), 1)
      .option('--concurrency <number>', 'number of notices sent at the same time', wholeNumber(1, 1_000), 1)
      .option('--nonce <text>', 'one nonce for all notices (default: a new nonce for each)')
      .option('--timestamp <seconds>', 'Unix time in the signature (default: now)')
      .option('--secret-stdin', 'read the signing key from standard input (default: the setting pay.sandbox.secret)')
      .option('--url <url>', 'address of the server (default: the server that runs on the data folder)')
      .option('--json', 'print the answers as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost pay callback --order 17\n  $ tradepost pay callback --order 17 --trade-no T1 --times 50 --concurrency 50\n  $ tradepost pay callback --payment-no PAY17723586000000123456789 --amount 0.01\n\nExit code 1 when a notice is refused.',
      ),
  ).action(callback(context));
  refuseSecretOption(command, '--secret <text>', 'use --secret-stdin');
}

function addRefunds(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('refunds')
      .description('list refunds that are pending or have failed, oldest first')
      .option('--all', 'list all refunds, newest first')
      .option('--limit <number>', 'largest number of refunds', wholeNumber(1, 10_000), 100)
      .option('--json', 'print the refunds as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost pay refunds\n\nExit code 1 when a refund has failed.'),
  ).action(async (options: GlobalOptions & { all?: boolean; limit: number }) => {
    const rows = await context.withRuntime(databaseOptions(options), ({ sql }) =>
      selectRefunds(sql, { all: options.all === true, limit: options.limit }),
    );
    if (options.json) printJson(rows.map((row) => ({ ...row, amount: toWire(row.amount) })));
    else if (rows.length === 0) print(options.all ? 'there are no refunds' : 'no refund is pending or has failed');
    else
      print(
        table([
          ['REFUND', 'ORDER', 'AMOUNT', 'REASON', 'STATUS', 'ATTEMPTS', 'LAST ERROR'],
          ...rows.map((row) => [
            ...[row.refund_no, row.order_no, `${toWire(row.amount).toFixed(2)} ${row.currency}`, row.reason],
            ...[row.status, String(row.attempts), row.last_error || '-'],
          ]),
        ]),
      );
    if (rows.some((row) => row.status === 'failed')) process.exitCode = exitCodes.failed;
  });
  withDatabaseOptions(
    group
      .command('retry-refund <refund_no>')
      .description('retry a failed refund under the same refund number')
      .addHelpText('after', '\nExample:\n  $ tradepost pay retry-refund RF17723586000000123456789'),
  ).action(async (refundNo: string, options: GlobalOptions) => {
    await context.withRuntime(databaseOptions(options), (runtime) => retryRefund(runtime, refundNo));
    print(`${refundNo} will be retried`);
  });
}

function addCheck(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('check <payment_no>')
      .description('ask the provider about a payment: money whose notice was lost is processed')
      .addHelpText('after', '\nExample:\n  $ tradepost pay check PAY17723586000000123456789'),
  ).action(async (paymentNo: string, options: GlobalOptions) => {
    await context.withRuntime(databaseOptions(options), async ({ sql, now }) => {
      const payment = await selectPaymentAtProvider(sql, paymentNo, now());
      if (!payment) throw orderErrors.payment_not_found();
      await sql.begin((tx) => enqueueJobs(tx, [checkJob(paymentNo)]));
    });
    print(`${paymentNo} will be checked`);
  });
}

export const register: RegisterCommand = (group, context) => {
  addCallback(group, context);
  addRefunds(group, context);
  addCheck(group, context);
  addReconcile(group, context);
};
