import { isoInZone } from '@tradepost/core';
import { shopperNamed } from '@tradepost/identity';
import {
  type CommandContext,
  inboxGroups,
  inboxTemplates,
  type RegisterCommand,
  staticEntriesOf,
} from '@tradepost/module';
import { shopLocale, timeZone } from '@tradepost/runtime';
import {
  confirm,
  type GlobalOptions,
  print,
  printJson,
  table,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, Option } from 'commander';
import { selectMessages } from '../back-office/admin-message-store.ts';
import { priorities } from '../messages/message.ts';
import { sendMessages } from '../messages/send-messages.ts';
import { sendBody } from '../schemas.ts';
import { openMessageTexts } from '../templates/message-texts.ts';
import { templatesOff, templateTexts } from '../templates/template-settings.ts';

type SendOptions = GlobalOptions & {
  user?: string;
  all?: boolean;
  yes?: boolean;
  title: string;
  content: string;
  group: (typeof inboxGroups)[number];
  priority: (typeof priorities)[number];
};
type ListOptions = GlobalOptions & { user?: string; group?: (typeof inboxGroups)[number]; limit: number };

const send =
  (context: CommandContext) =>
  async ({ user, all, yes, json, title, content, group, priority, ...options }: SendOptions, command: Command) => {
    if ((user !== undefined) === (all === true)) command.error('error: give either --user or --all');
    const texts = sendBody.pick({ title: true, content: true }).safeParse({ title, content });
    if (!texts.success)
      return command.error(`error: --${String(texts.error.issues[0]!.path[0])}: ${texts.error.issues[0]!.message}`);
    if (all && !yes) {
      if (!process.stdin.isTTY) command.error('error: --all without a terminal needs --yes');
      if (!(await confirm('Send this message to all shoppers?'))) {
        if (json) return printJson({ sent: 0 });
        return print('nothing was sent');
      }
    }
    await context.withRuntime(options, async (runtime) => {
      const user_id = user === undefined ? 0 : await shopperNamed(runtime, user);
      const message = { user_id, message_group: group, priority, ...texts.data, staff_id: 0 };
      await runtime.sql.begin((tx) => sendMessages(tx, runtime, [message]));
      if (json) return printJson({ sent: 1, user_id });
      print(user_id === 0 ? 'sent to all shoppers' : `sent to shopper ${user_id}`);
    });
  };

const list =
  (context: CommandContext) =>
  ({ user, group, limit, json, ...options }: ListOptions) =>
    context.withRuntime(options, async (runtime) => {
      const { sql, settings, config } = runtime;
      const filter = { group: group ?? null, user_id: user === undefined ? null : await shopperNamed(runtime, user) };
      const { rows, total } = await selectMessages(sql, filter, { page: 1, size: limit, offset: 0 });
      const texts = openMessageTexts(settings, staticEntriesOf(context.modulesOf(config))(inboxTemplates));
      const [zone, locale] = [settings.get(timeZone), settings.get(shopLocale)];
      const messages = rows.map((row) => ({
        ...{ id: row.id, user_id: row.user_id, group: row.message_group, priority: row.priority },
        ...{ template: row.template, ...texts(row, locale) },
        ...{ read_by_user: row.read_by_user, created_at: isoInZone(row.created_at, zone) },
      }));
      if (json) return printJson({ total, messages });
      if (total === 0) return print('no messages');
      print(
        table([
          ['ID', 'SHOPPER', 'GROUP', 'SENT', 'READ', 'TITLE'],
          ...messages.map((message) => [
            ...[String(message.id), message.user_id === 0 ? 'all' : String(message.user_id), message.group],
            ...[message.created_at, message.user_id === 0 ? '-' : message.read_by_user ? 'yes' : 'no', message.title],
          ]),
        ]),
      );
      if (total > messages.length) print(`\n${messages.length} of ${total}: --limit shows more`);
    });

const templates =
  (context: CommandContext) =>
  ({ json, ...options }: GlobalOptions) =>
    context.withRuntime(options, async ({ settings, config }) => {
      const off = settings.get(templatesOff);
      const own = settings.get(templateTexts);
      const rows = staticEntriesOf(context.modulesOf(config))(inboxTemplates).map(
        ({ name, about, event, params, title, content }) => ({
          ...{ name, about, event: event.name, on: !off.includes(name), params },
          title: { ...title, ...own[name]?.title },
          content: { ...content, ...own[name]?.content },
        }),
      );
      if (json) return printJson({ templates: rows });
      print(
        table([
          ['TEMPLATE', 'EVENT', 'ON', 'VALUES', 'ABOUT'],
          ...rows.map(({ name, event, on, params, about }) => [
            ...[name, event, on ? 'yes' : 'no', params.join(' '), about],
          ]),
        ]),
      );
    });

const groupOption = () => new Option('--group <group>', 'the group of the inbox').choices(inboxGroups);

export const register: RegisterCommand = (group, context) => {
  withDatabaseOptions(
    group
      .command('send')
      .description('send a message to one shopper or to all shoppers')
      .option('--user <user>', 'phone number, user name or id of the shopper')
      .option('--all', 'to all shoppers who are registered now')
      .requiredOption('--title <text>', 'the title, plain text')
      .requiredOption('--content <text>', 'the text, plain text')
      .addOption(groupOption().default('system'))
      .addOption(new Option('--priority <priority>', 'the priority').choices(priorities).default('normal'))
      .option('--yes', 'send to all without a question')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost inbox send --user 13800000000 --title "Your question" --content "The mug is dishwasher-safe."\n' +
          '  $ tradepost inbox send --all --yes --group marketing --title "Sale" --content "All mugs are 20 % off."',
      ),
  ).action(send(context));
  withDatabaseOptions(
    group
      .command('list')
      .description('list messages, newest first, in the language of the shop')
      .option('--user <user>', 'phone number, user name or id of a shopper; messages to all are left out')
      .addOption(groupOption())
      .addOption(
        new Option('--limit <number>', 'the most messages to list').default(50).argParser(wholeNumber(1, 1_000)),
      )
      .option('--json', 'print them as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost inbox list --user 13800000000'),
  ).action(list(context));
  withDatabaseOptions(
    group
      .command('templates')
      .description(
        'list the messages about events; the settings inbox.templates_off and inbox.template_texts change them',
      )
      .option('--json', 'print them as JSON, with their texts')
      .addHelpText('after', '\nExample:\n  $ tradepost inbox templates'),
  ).action(templates(context));
};
