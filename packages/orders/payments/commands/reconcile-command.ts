import { instantInZone, isoInZone, toWire } from '@tradepost/core';
import { type CommandContext, staticEntriesOf } from '@tradepost/module';
import { type Settings, timeZone } from '@tradepost/runtime';
import {
  completeWith,
  configOf,
  createProgress,
  databaseOptions,
  exitCodes,
  type GlobalOptions,
  green,
  numberOf,
  print,
  printJson,
  red,
  stopSignal,
  table,
  UsageError,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { isReady, openProviders, type PaymentProviders, redirectProviders } from '../providers/open-providers.ts';
import { paymentProviders } from '../providers/provider.ts';
import { type Difference, reconcilePayments } from '../reconcile/reconcile-payments.ts';

type Options = GlobalOptions & { provider?: string; from?: string; to?: string };

const dayMs = 24 * 60 * 60_000;
const maxDays = 31;

/** The period of the options, or yesterday, in the time zone of the shop. `to` is the first moment after it. */
function periodOf({ from, to }: Options, settings: Settings, now: Date): { from: Date; to: Date } {
  const zone = settings.get(timeZone);
  const yesterday = isoInZone(new Date(now.getTime() - dayMs), zone).slice(0, 10);
  const at = (flag: string, text: string, edge: 'start' | 'end'): Date => {
    const time = instantInZone(text, zone, edge);
    if (!time) throw new UsageError(`${flag}: a date (2026-03-01) or a time (2026-03-01T09:30:00)`);
    return time;
  };
  const begin = at('--from', from ?? to ?? yesterday, 'start');
  const end = new Date(at('--to', to ?? from ?? yesterday, 'end').getTime() + 1);
  if (end <= begin) throw new UsageError('--to is before --from');
  if (end.getTime() - begin.getTime() > maxDays * dayMs + 1) throw new UsageError(`at most ${maxDays} days at once`);
  return { from: begin, to: end };
}

/** The providers to compare: the one that is named, or all that are set up and have records. */
function chosen(providers: PaymentProviders, name: string | undefined) {
  const able = redirectProviders(providers).flatMap(({ records, ...rest }) => (records ? [{ ...rest, records }] : []));
  if (name === undefined) return able.filter(isReady);
  const named = able.find((provider) => provider.name === name);
  if (!named) throw new UsageError(`--provider: one of ${able.map((provider) => provider.name).join(', ') || 'none'}`);
  named.ready();
  return [named];
}

const side = (of: Difference['shop']) => (of ? `${toWire(of.amount).toFixed(2)} ${of.currency} ${of.status}` : '-');
const wire = (of: Difference['shop']) => (of ? { ...of, amount: toWire(of.amount) } : null);

async function reconcile(context: CommandContext, options: Options): Promise<void> {
  const { config } = configOf(databaseOptions(options));
  const entries = staticEntriesOf(context.modulesOf(config))(paymentProviders);
  const stop = stopSignal();
  try {
    await context.withRuntime(databaseOptions(options), async (runtime) => {
      const period = periodOf(options, runtime.settings, runtime.now());
      const providers = openProviders(runtime, entries);
      try {
        const results = [];
        for (const provider of chosen(providers, options.provider)) {
          const { report } = createProgress('records');
          const compared = await reconcilePayments(runtime.sql, provider, period, {
            signal: stop.signal,
            report: ({ payments, refunds, differences }) =>
              report(
                payments + refunds,
                `${provider.name}: ${numberOf(payments, 'payment')}, ${numberOf(refunds, 'refund')}, ${numberOf(differences.length, 'difference')}`,
              ),
          });
          results.push({ provider: provider.name, ...compared });
        }
        show(results, period, options.json === true);
      } finally {
        await Promise.all(redirectProviders(providers).map((provider) => provider.stop?.()));
      }
    });
  } finally {
    stop.release();
  }
}

type Result = { provider: string } & Awaited<ReturnType<typeof reconcilePayments>>;

function show(results: readonly Result[], { from, to }: { from: Date; to: Date }, json: boolean): void {
  const differences = results.flatMap((result) => result.differences);
  if (differences.length > 0 || results.some(({ error }) => error !== '')) process.exitCode = exitCodes.failed;
  if (json) {
    const providers = results.map(({ differences: list, ...rest }) => ({ ...rest, differences: list.length }));
    const listed = differences.map((one) => ({ ...one, shop: wire(one.shop), theirs: wire(one.theirs) }));
    printJson({ from: from.toISOString(), to: to.toISOString(), providers, differences: listed });
    return;
  }
  if (results.length === 0) print('no payment provider with records is set up');
  if (differences.length > 0)
    print(
      table([
        ['PROVIDER', 'KIND', 'PROBLEM', 'PAYMENT', 'REFUND', 'TRADE', 'SHOP', 'PROVIDER HAS'],
        ...differences.map((one) => [
          ...[one.provider, one.kind, one.problem, one.payment_no || '-', one.refund_no || '-', one.trade_no || '-'],
          ...[side(one.shop), side(one.theirs)],
        ]),
      ]),
    );
  for (const { provider, payments, refunds, differences: list, more, error } of results) {
    const counted = `${provider}: ${numberOf(payments, 'payment')} and ${numberOf(refunds, 'refund')} compared`;
    if (list.length > 0) print(`${counted}, ${list.length}${more ? ' and more' : ''} differ`);
    else print(error === '' ? green(`${counted}, no differences`) : counted);
    if (error !== '') print(red(`${provider}: not complete: ${error}`));
  }
}

export function addReconcile(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('reconcile')
      .description('compare payments and refunds with the records of the payment providers')
      .addOption(
        completeWith(new Option('--provider <name>', 'only this provider (default: all that are set up)'), () =>
          staticEntriesOf(context.modules)(paymentProviders)
            .filter(({ kind }) => kind === 'redirect')
            .map(({ name }) => name),
        ),
      )
      .option('--from <time>', 'first day or time, in the time zone of the shop (default: yesterday)')
      .option('--to <time>', 'last day or time (default: the same day)')
      .option('--json', 'print the differences as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost pay reconcile\n  $ tradepost pay reconcile --provider wechat --from 2026-03-01 --to 2026-03-31 --json\n\n' +
          'Exit codes: 0 no differences, 1 differences or not complete, 2 wrong usage.',
      ),
  ).action((options: Options) => reconcile(context, options));
}
