import { text as readAll } from 'node:stream/consumers';
import { AppError } from '@tradepost/core';
import type { CommandContext, RegisterCommand } from '@tradepost/module';
import { type Runtime, timeZone } from '@tradepost/runtime';
import {
  databaseOptions,
  exitCodes,
  type GlobalOptions,
  print,
  printJson,
  progress,
  table,
  UsageError,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { announcementStates, announcementTypes } from '../announcements/announcement.ts';
import { announcementBody, announcementChangeBody } from '../announcements/announcement-schemas.ts';
import { selectAnnouncements, withdrawAnnouncements } from '../announcements/announcement-store.ts';
import { announcementViewOf, spanOf } from '../announcements/announcement-view.ts';
import { maxAnnouncementPage, maxWithdrawn } from '../announcements/limits.ts';
import { createAnnouncement, editAnnouncement } from '../announcements/save-announcement.ts';

type TextOptions = {
  title?: string;
  content?: string;
  type?: string;
  startsAt?: string;
  endsAt?: string;
};

const zoneOf = ({ settings }: Runtime) => settings.get(timeZone);

function announcementId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be the number of an announcement.');
  return Number(text);
}

function announcementIds(text: string, before: number[] = []): number[] {
  if (before.length === maxWithdrawn) throw new InvalidArgumentError(`At most ${maxWithdrawn} numbers.`);
  return [...before, announcementId(text)];
}

/** Checks the options by the rules of the endpoint. The content `-` is read from standard input. */
async function checked<S extends z.ZodType>(schema: S, options: TextOptions): Promise<z.output<S>> {
  const content = options.content === '-' ? await readAll(process.stdin) : options.content;
  const { title, type, startsAt: starts_at, endsAt: ends_at } = options;
  const result = schema.safeParse({ title, content, type, starts_at, ends_at });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UsageError(`${issue!.path.join('.').replace('_', '-')}: ${issue!.message}`);
}

/** The times of the options. A wrong one is wrong usage. */
function spanIn(times: Parameters<typeof spanOf>[0], runtime: Runtime): ReturnType<typeof spanOf> {
  try {
    return spanOf(times, zoneOf(runtime));
  } catch (error) {
    throw error instanceof AppError ? new UsageError(error.message) : error;
  }
}

const list =
  (context: CommandContext) =>
  async ({ state, json, ...options }: GlobalOptions & { state: string }) =>
    context.withRuntime(options, async (runtime) => {
      const chosen = announcementStates.find((known) => known === state) ?? null;
      const paging = { page: 1, size: maxAnnouncementPage, offset: 0 };
      const { rows, total } = await selectAnnouncements(runtime.sql, chosen, paging);
      const announcements = rows.map((row) => announcementViewOf(row, zoneOf(runtime)));
      if (json) return printJson({ total, announcements });
      if (total === 0) return print('no announcements');
      print(
        table([
          ['ID', 'STATE', 'TYPE', 'FROM', 'TO', 'TITLE'],
          ...announcements.map((row) => [
            ...[String(row.id), row.state, row.type, row.starts_at ?? row.created_at, row.ends_at ?? '-', row.title],
          ]),
        ]),
      );
      if (total > rows.length) print(`\n${rows.length} of ${total}, newest first`);
    });

const create = (context: CommandContext) => async (options: GlobalOptions & TextOptions) => {
  const { title, content, type, ...times } = await checked(announcementBody, options);
  await context.withRuntime(databaseOptions(options), async (runtime) => {
    const { starts_at = null, ends_at = null } = spanIn(times, runtime);
    const added = await runtime.sql.begin((tx) => createAnnouncement(tx, { title, content, type, starts_at, ends_at }));
    if (options.json) return printJson(announcementViewOf(added, zoneOf(runtime)));
    print(`announcement ${added.id} created: ${added.state}`);
  });
};

const edit = (context: CommandContext) => async (id: number, options: GlobalOptions & TextOptions) => {
  const { title, content, type, ...times } = await checked(announcementChangeBody, options);
  await context.withRuntime(databaseOptions(options), async (runtime) => {
    const span = spanIn(times, runtime);
    await runtime.sql.begin((tx) => editAnnouncement(tx, id, { title, content, type, ...span }));
    if (options.json) return printJson({ id });
    print(`announcement ${id} changed`);
  });
};

const withdraw =
  (context: CommandContext) =>
  async (ids: number[], { json, ...options }: GlobalOptions) =>
    context.withRuntime(options, async ({ sql }) => {
      const withdrawn = await withdrawAnnouncements(sql, ids);
      const refused = ids.filter((id) => !withdrawn.includes(id));
      if (refused.length > 0) process.exitCode = exitCodes.failed;
      if (json) return printJson({ withdrawn, refused });
      for (const id of refused) progress(`announcement ${id}: does not exist, or is withdrawn`);
      print(`withdrawn: ${withdrawn.length}`);
    });

const withTexts = (command: Command) =>
  withDatabaseOptions(
    command
      .option('--title <text>', 'one line')
      .option('--content <text>', 'plain text, or - to read it from standard input')
      .addOption(new Option('--type <type>', 'how urgent it is').choices(announcementTypes))
      .option('--starts-at <time>', 'when it becomes visible, in the zone of the shop; an empty text means at once')
      .option('--ends-at <time>', 'when it is no longer visible; an empty text means when it is withdrawn')
      .option('--json', 'print the result as JSON'),
  );

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('list')
      .description('list announcements, newest first')
      .addOption(new Option('--state <state>', 'only these').choices([...announcementStates, 'all']).default('visible'))
      .option('--json', 'print them as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost announcements list --state all'),
  ).action(list(context));
  withTexts(group.command('create').description('create an announcement'))
    .addHelpText(
      'after',
      '\nExamples:\n  $ tradepost announcements create --title "Stock count" --content "On Friday at 18:00" --type urgent\n' +
        '  $ tradepost announcements create --title "Holiday" --content - --starts-at 2026-05-01 < holiday.txt',
    )
    .action(create(context));
  withTexts(
    group
      .command('edit')
      .argument('<id>', 'number of the announcement', announcementId)
      .description('change an announcement; what is not given stays'),
  )
    .addHelpText('after', '\nExample:\n  $ tradepost announcements edit 3 --ends-at 2026-05-08')
    .action(edit(context));
  withDatabaseOptions(
    group
      .command('withdraw')
      .argument('<id...>', 'numbers of announcements', announcementIds)
      .description('withdraw announcements: staff no longer see them')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost announcements withdraw 3'),
  ).action(withdraw(context));
};
