import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isoInZone } from '@tradepost/core';
import type { CommandContext, RegisterCommand } from '@tradepost/module';
import { timeZone } from '@tradepost/runtime';
import { databaseOptions, type GlobalOptions, print, printJson, table, wholeNumber } from '@tradepost/terminal';
import { Option } from 'commander';
import { type Change, openSummary } from '../change.ts';
import { selectChanges } from '../change-store.ts';
import { type ExportFormat, exportChanges, formats } from '../export-changes.ts';
import { mostCounted } from '../limits.ts';
import { viewOf } from '../schemas.ts';
import { type FilterOptions, filterOfOptions, withFilters } from './filter-options.ts';

type ListOptions = GlobalOptions & FilterOptions & { limit: number };
type ExportOptions = GlobalOptions & FilterOptions & { format: ExportFormat };

/** A command is `cli`, as in `settings log`, with the user of the operating system. */
const authorOf = ({ source, actor_name, staff_id }: Change): string =>
  source === 'cli' ? `cli (${actor_name})` : actor_name || String(staff_id);

const list =
  (context: CommandContext) =>
  async (options: ListOptions): Promise<void> => {
    await context.withRuntime(databaseOptions(options), async ({ sql, settings, config }) => {
      const zone = settings.get(timeZone);
      const { rows, total } = await selectChanges(sql, filterOfOptions(options, zone), {
        size: options.limit,
        offset: 0,
      });
      const summary = openSummary(context.modulesOf(config));
      const view = { iso: (at: Date) => isoInZone(at, zone), summary, locale: 'en' as const };
      if (options.json) return printJson({ total, changes: rows.map((change) => viewOf(change, view)) });
      if (rows.length === 0) return print('no changes');
      print(
        table([
          ['TIME', 'BY', 'ACTION', 'CHANGE', 'COLUMNS'],
          ...rows.map((change) => [
            ...[view.iso(change.at), authorOf(change), change.action, summary(change, 'en')],
            change.operation === 'update' ? Object.keys(change.after ?? {}).join(', ') : '',
          ]),
        ]),
      );
      print(`${rows.length} of ${total === mostCounted ? `${total} or more` : total} changes, the newest first`);
    });
  };

const exportTo =
  (context: CommandContext) =>
  async (file: string, options: ExportOptions): Promise<void> => {
    await context.withRuntime(databaseOptions(options), async ({ sql, settings }) => {
      const zone = settings.get(timeZone);
      const pieces = exportChanges(sql, filterOfOptions(options, zone), { format: options.format, zone });
      // The log has names and addresses: a new file is for its owner only.
      if (file !== '-') return pipeline(Readable.from(pieces), createWriteStream(file, { mode: 0o600 }));
      for await (const piece of pieces)
        if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    });
  };

export const register: RegisterCommand = (group, context) => {
  withFilters(group.command('list').description('changes, the newest first'))
    .addOption(
      new Option('--limit <number>', 'maximum number of changes to print')
        .default(50)
        .argParser(wholeNumber(1, mostCounted)),
    )
    .option('--json', 'print them as JSON, with the values before and after')
    .addHelpText(
      'after',
      '\nExamples:\n  $ tradepost changes list --table products --row 5\n  $ tradepost changes list --staff 3 --from 2026-03-01 --json',
    )
    .action(list(context));
  withFilters(
    group
      .command('export')
      .argument('<file>', 'file to write, or - for standard output')
      .description('write all changes that match to a file, the newest first'),
  )
    .addOption(new Option('--format <format>', 'CSV, or one JSON object per line').choices(formats).default('csv'))
    .addHelpText(
      'after',
      '\nExamples:\n  $ tradepost changes export changes.csv --from 2026-03-01\n  $ tradepost changes export - --format ndjson --staff 3',
    )
    .action(exportTo(context));
};
