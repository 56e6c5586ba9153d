import { instantInZone } from '@tradepost/core';
import { shopperNamed } from '@tradepost/identity';
import type { CommandContext } from '@tradepost/module';
import { type Runtime, timeZone } from '@tradepost/runtime';
import {
  commandAuthor,
  type GlobalOptions,
  print,
  printJson,
  progress,
  secretAsArgument,
  table,
  UsageError,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { maxGraceSeconds } from '../schemas.ts';
import { type TokenStatus, tokenStatuses } from '../tokens/api-token.ts';
import { selectTokens, type TokenRow, tokensNamed } from '../tokens/api-token-store.ts';
import { type ApiTokens, openApiTokens } from '../tokens/api-tokens.ts';
import { tokenViewOf, tokenViews } from '../tokens/token-view.ts';
import { limitNumber, limitText } from './limits.ts';

/** Opens the database and the API tokens, and closes both. */
const withApiTokens = (
  context: CommandContext,
  options: GlobalOptions,
  work: (runtime: Runtime, tokens: ApiTokens) => Promise<void>,
) =>
  context.withRuntime(options, async (runtime) => {
    const tokens = await openApiTokens(runtime);
    await work(runtime, tokens).finally(() => tokens.close());
  });

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** Seconds of a duration such as `90s`, `15m`, `1h`, `30d` or `2w`; null for another text. */
function secondsIn(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * unitSeconds[unit as keyof typeof unitSeconds];
}

function graceOf(text: string): number {
  const seconds = text === '0' ? 0 : secondsIn(text);
  if (seconds === null || seconds > maxGraceSeconds)
    throw new InvalidArgumentError('It must be a duration such as 15m, 1h or 2d, at most 7d.');
  return seconds;
}

/** A duration from now, or a date or time in the zone of the shop. */
function expiryOf({ settings, now }: Pick<Runtime, 'settings' | 'now'>, given: string): Date {
  const seconds = secondsIn(given);
  const at =
    seconds === null ? instantInZone(given, settings.get(timeZone), 'end') : new Date(now().getTime() + seconds * 1000);
  if (!at) throw new UsageError(`--expires ${given}: must be a duration such as 30d, or a date such as 2027-03-01`);
  return at;
}

/** The beginning of a secret that the database stores: `tp-` and eight characters. */
const prefixLength = 11;

/** Finds a token by its id or the beginning of its secret. Refuses a whole secret. */
export async function tokenNamed({ sql }: Pick<Runtime, 'sql'>, given: string): Promise<TokenRow> {
  const shown = given.slice(0, prefixLength);
  if (given.startsWith('tp-') && given.length > prefixLength)
    throw secretAsArgument('a secret of an API token', `its beginning is enough: ${shown}`);
  const found = await tokensNamed(sql, given);
  if (found.length === 0) throw new Error(`there is no API token ${shown}: tradepost gateway token list`);
  if (found.length > 1)
    throw new Error(
      `several API tokens begin with ${shown}: ${found.map((row) => `${row.id} (${row.prefix})`).join(', ')}`,
    );
  return found[0]!;
}

type CreateOptions = GlobalOptions & { user: string; name?: string; rpm?: number; tpm?: number; expires?: string };

function addCreate(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('create')
      .description('create an API token for a shopper; the secret is printed once and not stored')
      .requiredOption('--user <shopper>', 'phone number, user name or id of the shopper who owns it')
      .option('--name <text>', 'a name to recognize it by')
      .option('--rpm <n>', 'requests per minute; 0 is unlimited; default: the limit of the shopper', limitNumber)
      .option('--tpm <n>', 'tokens per minute; 0 is unlimited; default: the limit of the shopper', limitNumber)
      .option('--expires <when>', 'after a time such as 30d, or at a date such as 2027-03-01; default: never')
      .option('--json', 'print the token with its secret as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ KEY=$(tradepost gateway token create --user 13800000000 --name laptop)\n' +
          '  $ tradepost gateway token create --user 1 --rpm 600 --tpm 1000000 --expires 90d --json\n\n' +
          'The secret alone goes to standard output, all else to standard error.',
      ),
  ).action(({ user, name = '', rpm = null, tpm = null, expires, json, ...options }) => {
    const given = { name, rpm_limit: rpm, tpm_limit: tpm };
    return withApiTokens(context, options as CreateOptions, async (runtime, tokens) => {
      if (name.length > 100) throw new UsageError('--name: at most 100 characters');
      const user_id = await shopperNamed(runtime, user);
      const expires_at = expires === undefined ? null : expiryOf(runtime, expires);
      const { row, secret } = await tokens.create({ user_id, ...given, expires_at }, commandAuthor());
      const view = await tokenViewOf(runtime, row);
      if (json) return printJson({ ...view, secret });
      progress(
        `API token ${view.id} (${view.prefix}...) of shopper ${view.user_id} ${view.nickname}, ` +
          `${view.expires_at ? `valid until ${view.expires_at}` : 'valid without end'}; its secret is shown once:`,
      );
      print(secret);
    });
  });
}

type ListOptions = GlobalOptions & { user?: string; status?: TokenStatus; limit: number };

const list =
  (context: CommandContext) =>
  async ({ user, status, limit, json, ...options }: ListOptions): Promise<void> => {
    await context.withRuntime(options, async (runtime) => {
      const user_id = user === undefined ? undefined : await shopperNamed(runtime, user);
      const paging = { page: 1, size: limit, offset: 0 };
      const { rows, total } = await selectTokens(runtime.sql, { user_id, status }, runtime.now(), paging);
      const views = await tokenViews(runtime, rows);
      if (json) return printJson({ total, tokens: views });
      if (total === 0) return print('no API tokens');
      print(
        table([
          ['ID', 'PREFIX', 'STATUS', 'USER', 'RPM', 'TPM', 'EXPIRES', 'LAST USED', 'NAME'],
          ...views.map((view) => [
            ...[String(view.id), view.prefix, view.status, `${view.user_id} ${view.nickname}`.trim()],
            ...[limitText(view.effective.token_rpm), limitText(view.effective.token_tpm)],
            ...[view.expires_at ?? 'never', view.last_used_at ?? 'never', view.name || '-'],
          ]),
        ]),
      );
      if (total > rows.length) print(`\n${rows.length} of ${total}: --limit shows more`);
    });
  };

export function addTokens(group: Command, context: CommandContext): void {
  const tokens = group.command('token').description('API tokens: create, list, revoke, rotate');
  addCreate(tokens, context);
  withDatabaseOptions(
    tokens
      .command('list')
      .description('list API tokens, the newest first, without their secrets')
      .option('--user <shopper>', 'only tokens of this shopper: phone number, user name or id')
      .addOption(new Option('--status <status>', 'only tokens in this state').choices(tokenStatuses))
      .addOption(
        new Option('--limit <number>', 'largest number of tokens').default(50).argParser(wholeNumber(1, 100_000)),
      )
      .option('--json', 'print JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost gateway token list\n  $ tradepost gateway token list --user 13800000000 --status active --json',
      ),
  ).action(list(context));
  withDatabaseOptions(
    tokens
      .command('revoke')
      .argument('<id|prefix>', 'number of the token, or how its secret begins')
      .description('revoke an API token; running gateways refuse it at once, or within 5 s when the message is lost')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ tradepost gateway token revoke 12\n  $ tradepost gateway token revoke tp-4fK9aQ2z',
      ),
  ).action((given: string, { json, ...options }: GlobalOptions) =>
    withApiTokens(context, options, async (runtime, opened) => {
      const { id, prefix } = await tokenNamed(runtime, given);
      const ended = await opened.revoke([id], commandAuthor());
      if (json) return printJson({ id, prefix, revoked: true, was_revoked: ended.length === 0 });
      print(`API token ${id} (${prefix}...) ${ended.length === 0 ? 'was revoked before' : 'is revoked'}`);
    }),
  );
  withDatabaseOptions(
    tokens
      .command('rotate')
      .argument('<id|prefix>', 'number of the token, or how its secret begins')
      .description('replace the secret of an API token; it is printed once, limits and history stay')
      .option(
        '--grace <duration>',
        'time in which the old secret stays valid, at most 7d; default: it ends at once',
        graceOf,
      )
      .option('--json', 'print the token with its secret as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  $ KEY=$(tradepost gateway token rotate 12 --grace 1h)\n  $ tradepost gateway token rotate tp-4fK9aQ2z --json\n\n' +
          'The secret alone goes to standard output, all else to standard error.',
      ),
  ).action((given: string, { grace = 0, json, ...options }: GlobalOptions & { grace?: number }) =>
    withApiTokens(context, options, async (runtime, opened) => {
      const { id } = await tokenNamed(runtime, given);
      const { row, secret } = await opened.rotate(id, grace, commandAuthor());
      const view = await tokenViewOf(runtime, row);
      if (json) return printJson({ ...view, secret });
      const until = view.previous_until ? `is valid until ${view.previous_until}` : 'has ended';
      progress(
        `API token ${id} has a new secret (${view.prefix}...), the old one ${until}; the new one is shown once:`,
      );
      print(secret);
    }),
  );
}
