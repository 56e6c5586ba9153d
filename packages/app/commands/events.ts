import { isoInZone } from '@tradepost/core';
import { type CommandContext, declaredBy, type RegisterCommand } from '@tradepost/module';
import { type EventRow, type EventState, retryEvents, selectEvents, timeZone } from '@tradepost/runtime';
import {
  completeWith,
  databaseOptions,
  exitCodes,
  type GlobalOptions,
  print,
  printJson,
  progress,
  table,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';

type ListOptions = GlobalOptions & { name?: string; limit: number } & Partial<Record<EventState, boolean>>;

function eventIds(text: string, before: number[] = []): number[] {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id))
    throw new InvalidArgumentError('It must be the id of an event.');
  return [...before, id];
}

const rowIn =
  (zone: string) =>
  ({ id, name, subject, state, attempts, occurred_at, last_error }: EventRow): string[] => [
    ...[String(id), name, subject, state, String(attempts), isoInZone(occurred_at, zone)],
    last_error.split('\n')[0]!.slice(0, 120),
  ];

const list =
  (context: CommandContext) =>
  async (options: ListOptions): Promise<void> => {
    const states = (['waiting', 'failed', 'dispatched'] as const).filter((state) => options[state]);
    await context.withRuntime(databaseOptions(options), async ({ sql, settings }) => {
      const events = await selectEvents(sql, { states, name: options.name }, options.limit);
      if (options.json) return printJson(events);
      if (events.length === 0) return print('no events');
      const rows = events.map(rowIn(settings.get(timeZone)));
      print(table([['ID', 'NAME', 'SUBJECT', 'STATE', 'ATTEMPTS', 'OCCURRED', 'LAST ERROR'], ...rows]));
    });
  };

const kinds =
  (context: CommandContext) =>
  async (options: GlobalOptions): Promise<void> => {
    await context.withRuntime(options, async ({ config }) => {
      const declared = declaredBy(context.modulesOf(config), 'events').map(({ name, about }) => ({ name, about }));
      if (options.json) return printJson(declared);
      print(table([['NAME', 'REPORTS'], ...declared.map(({ name, about }) => [name, about])]));
    });
  };

const retry =
  (context: CommandContext) =>
  async (ids: number[], options: GlobalOptions & { failed?: boolean }, command: Command): Promise<void> => {
    if (ids.length > 0 === (options.failed === true)) command.error('error: give either ids of events, or --failed');
    await context.withRuntime(databaseOptions(options), async ({ sql }) => {
      const retried = await retryEvents(sql, options.failed ? null : ids);
      const unknown = ids.filter((id) => !retried.includes(id));
      if (unknown.length > 0) process.exitCode = exitCodes.failed;
      if (options.json) return printJson({ retried, unknown });
      for (const id of unknown) progress(`event ${id}: there is no failed event with this id`);
      print(`retried: ${retried.length === 0 ? 'no events' : retried.length}`);
    });
  };

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('list')
      .description('recorded events, the newest first; dispatched ones are deleted after retention.events_days')
      .option('--waiting', 'only events that are not dispatched yet')
      .option('--failed', 'only events that have used all attempts')
      .option('--dispatched', 'only events that all readers have read')
      .addOption(
        completeWith(new Option('--name <name>', 'only events of this kind, for example order.paid'), () =>
          declaredBy(context.modules, 'events').map(({ name }) => name),
        ),
      )
      .addOption(
        new Option('--limit <number>', 'maximum number of events to print')
          .default(50)
          .argParser(wholeNumber(1, 10_000)),
      )
      .option('--json', 'print them as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost events list --failed\n  $ tradepost events list --name order.paid --json',
      ),
  ).action(list(context));
  withDatabaseOptions(
    group
      .command('kinds')
      .description('the kinds of events that this shop records')
      .option('--json', 'print them as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost events kinds'),
  ).action(kinds(context));
  withDatabaseOptions(
    group
      .command('retry')
      .argument('[id...]', 'ids of failed events', eventIds, [])
      .description('dispatch failed events again, with all their attempts')
      .option('--failed', 'all failed events')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost events retry 4711\n  $ tradepost events retry --failed\n\nExit code 1 when there is no failed event with one of the ids; the others are retried.',
      ),
  ).action(retry(context));
};
