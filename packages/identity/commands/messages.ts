import { isoInZone } from '@tradepost/core';
import type { CommandContext, RegisterCommand } from '@tradepost/module';
import { timeZone } from '@tradepost/runtime';
import {
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
import { retryMessages } from '../messages/manage-messages.ts';
import { type MessageRow, maxAttempts, selectMessages } from '../messages/message-store.ts';
import { maskPhone } from '../messages/phone.ts';

/** The most ids of one call. */
const maxIds = 1_000;

function messageIds(text: string, before: number[] = []): number[] {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be the number of a message.');
  if (before.length === maxIds) throw new InvalidArgumentError(`At most ${maxIds} numbers, or --failed.`);
  return [...before, Number(text)];
}

/** The end of a message, or its next attempt. */
function stateOf({ status, due_at, sent_at }: MessageRow, zone: string): string {
  if (sent_at) return `at ${isoInZone(sent_at, zone)}`;
  return status === 'queued' ? `due ${isoInZone(due_at, zone)}` : '-';
}

const list =
  (context: CommandContext) =>
  async ({ failed, limit, json, ...options }: GlobalOptions & { failed?: boolean; limit: number }) => {
    const { messages, total, zone } = await context.withRuntime(options, async ({ sql, settings }) => ({
      ...(await selectMessages(sql, { status: failed ? 'failed' : undefined }, limit)),
      zone: settings.get(timeZone),
    }));
    const masked = messages.map((message) => ({ ...message, phone: maskPhone(message.phone) }));
    if (json) return printJson({ total, messages: masked });
    if (total === 0) return print('no messages');
    print(
      table([
        ['ID', 'NOTICE', 'PHONE', 'STATUS', 'ATTEMPTS', 'WHEN', 'LAST ERROR'],
        ...masked.map((message) => [
          ...[String(message.id), message.notice, message.phone, message.status],
          ...[`${message.attempts}/${maxAttempts}`, stateOf(message, zone), message.last_error.slice(0, 120) || '-'],
        ]),
      ]),
    );
    if (total > messages.length) print(`\n${messages.length} of ${total}: --limit shows more`);
  };

const retry =
  (context: CommandContext) =>
  async (ids: number[], { failed, json, ...options }: GlobalOptions & { failed?: boolean }, command: Command) => {
    const named = ids.length > 0;
    if (named === (failed === true)) command.error('error: use either numbers of messages, or --failed');
    const retried = await context.withRuntime(options, (runtime) =>
      retryMessages(runtime, named ? { ids } : { failed: true }),
    );
    const refused = ids.filter((id) => !retried.includes(id));
    if (refused.length > 0) process.exitCode = exitCodes.failed;
    if (json) return printJson({ retried, refused });
    for (const id of refused) progress(`message ${id}: no failed message has this number`);
    print(retried.length === 0 ? 'retried: no messages' : `retried: ${retried.length}`);
  };

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('list')
      .description(
        'list messages about notices, newest first; phones are masked. Login codes and reminders to pay are not listed',
      )
      .option('--failed', 'only messages that were refused, or not sent after all attempts')
      .addOption(
        new Option('--limit <number>', 'the most messages to list').default(50).argParser(wholeNumber(1, 100_000)),
      )
      .option('--json', 'print them as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost messages list --failed'),
  ).action(list(context));
  withDatabaseOptions(
    group
      .command('retry')
      .argument('[id...]', 'numbers of failed messages', messageIds, [])
      .description('send failed messages again, with all attempts')
      .option('--failed', 'all failed messages')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost messages retry 4711 4712\n  $ tradepost messages retry --failed\n\n' +
          'Each message is decided separately. Exit code 1 when a message that was named has not failed.',
      ),
  ).action(retry(context));
};
