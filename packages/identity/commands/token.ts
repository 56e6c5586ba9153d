import type { CommandContext, RegisterCommand } from '@tradepost/module';
import type { Runtime } from '@tradepost/runtime';
import {
  bold,
  exitCodes,
  type GlobalOptions,
  print,
  printJson,
  progress,
  readSecret,
  secretAsArgument,
  table,
  wholeNumber,
  withDatabaseOptions,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { z } from 'zod';
import { selectShopper, selectStaff } from '../shoppers/identity-store.ts';
import { inspectToken } from '../tokens/inspect-token.ts';
import { longestTokenHours } from '../tokens/token-store.ts';
import { openTokens, type Tokens } from '../tokens/tokens.ts';
import { staffNamed } from './staff.ts';

type AccountOptions = GlobalOptions & { user?: number; staff?: string };

const maxId = Number.MAX_SAFE_INTEGER;

/** Runs `work` with the database and the tokens, and closes both. */
const withTokens = (
  context: CommandContext,
  options: GlobalOptions,
  work: (runtime: Runtime, tokens: Tokens) => Promise<void>,
) =>
  context.withRuntime(options, async (runtime) => {
    const tokens = await openTokens(runtime);
    await work(runtime, tokens).finally(() => tokens.close());
  });

const isUuid = (text: string) => z.guid().safeParse(text).success;

/** Reads a login token from standard input or the hidden prompt. Refuses a token on the command line. */
async function readToken(given: string | undefined, command: string): Promise<string> {
  if (given !== undefined && given !== '-')
    throw secretAsArgument('a token', `printf %s "$TOKEN" | tradepost token ${command} -`);
  return (await readSecret('Token')).replace(/^Bearer\s+/i, '');
}

/** The account of --user or --staff, with the fields of its token. */
async function accountOf(runtime: Runtime, { user, staff }: AccountOptions) {
  if (user !== undefined) {
    const shopper = await selectShopper(runtime.sql, user);
    if (!shopper) throw new Error(`there is no shopper ${user}`);
    const { id, status, generation } = shopper;
    return { role: 'user' as const, id, perms: [] as string[], status, generation };
  }
  const row = await selectStaff(runtime.sql, (await staffNamed(runtime, staff ?? '')).id);
  if (!row) throw new Error(`there is no administrator ${staff}`);
  const { id, permissions: perms, status, generation } = row;
  return { role: 'admin' as const, id, perms, status, generation };
}

const withAccountOptions = (command: Command) =>
  withDatabaseOptions(
    command
      .option('--user <id>', 'a shopper', wholeNumber(1, maxId))
      .option('--staff <name>', 'an administrator')
      .option('--json', 'print the result as JSON'),
  );

function addRotate(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('rotate')
      .description('create a new signing key; tokens of older keys stay valid until they expire')
      .option('--revoke-old', 'delete the older keys at once; all accounts have to log in again')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost token rotate'),
  ).action(({ revokeOld, json, ...options }: GlobalOptions & { revokeOld?: boolean }) =>
    withTokens(context, options, async (_runtime, tokens) => {
      const { kid, revoked } = await tokens.rotate({ revokeOld: revokeOld === true });
      if (json) return printJson({ kid, revoked_keys: revoked });
      print(`new signing key ${bold(kid)}`);
      progress(revokeOld ? `${revoked} older keys deleted; their tokens are void` : 'older tokens stay valid');
    }),
  );
}

function addIssue(group: Command, context: CommandContext): void {
  withAccountOptions(
    group
      .command('issue')
      .description('print a token of an account, for scripts and for support')
      .option('--hours <n>', 'lifetime; default: TOKEN_HOURS', wholeNumber(1, longestTokenHours)),
  )
    .addHelpText('after', '\nExample:\n  $ TOKEN=$(tradepost token issue --staff ann --hours 1)')
    .action(({ hours, json, ...options }: AccountOptions & { hours?: number }, command: Command) => {
      if ((options.user === undefined) === (options.staff === undefined))
        command.error('error: give either --user <id> or --staff <name>');
      return withTokens(context, options, async (runtime, tokens) => {
        const { status, ...account } = await accountOf(runtime, options);
        if (status !== 1) throw new Error('the account is disabled');
        const token = await tokens.issue(account, hours === undefined ? {} : { hours });
        if (!json) return print(token);
        const { expires_at } = await inspectToken(runtime, token);
        printJson({ token, role: account.role, user_id: account.id, perms: account.perms, expires_at });
      });
    });
}

function addInspect(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('inspect [token]')
      .description(
        'show the content of the token on standard input, and whether this shop accepts it; exit code 1 when not',
      )
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ printf %s "$TOKEN" | tradepost token inspect'),
  ).action(async (given: string | undefined, options: GlobalOptions) => {
    const token = await readToken(given, 'inspect');
    await context.withRuntime(options, async (runtime) => {
      const found = await inspectToken(runtime, token);
      if (!found.valid) process.exitCode = exitCodes.failed;
      if (options.json) return printJson(found);
      const { account } = found;
      const who = account ? `${account.role === 'admin' ? 'administrator' : 'shopper'} ${account.id}` : '-';
      print(
        table([
          ['valid', found.valid ? 'yes' : `no: ${found.reason}`],
          [
            'account',
            `${who} ${account?.name ?? ''}${account && account.status !== 1 ? ' (disabled or deleted)' : ''}`,
          ],
          ['permissions', found.perms.join(' ') || '-'],
          ['issued', found.issued_at || '-'],
          ['expires', found.expires_at || '-'],
          ['id (jti)', found.jti || '-'],
          ['key (kid)', found.kid || '-'],
        ]),
      );
    });
  });
}

function addRevoke(group: Command, context: CommandContext): void {
  withAccountOptions(
    group
      .command('revoke [id]')
      .description(
        'revoke one token, by its id (jti) or, with -, read from standard input; with --user or --staff revoke all tokens of an account',
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  $ printf %s "$TOKEN" | tradepost token revoke -\n  $ tradepost token revoke --staff ann',
    )
    .action(async (given: string | undefined, { json, ...options }: AccountOptions, command: Command) => {
      if ([given, options.user, options.staff].filter((each) => each !== undefined).length !== 1)
        command.error('error: give either the id of a token, -, or --user <id> or --staff <name>');
      const token = given === undefined || isUuid(given) ? given : await readToken(given, 'revoke');
      const noToken = 'error: this is neither a login token nor the id (jti, a UUID) of one';
      if (token !== undefined && !token.includes('.') && !isUuid(token)) command.error(noToken);
      return withTokens(context, options, async (runtime, tokens) => {
        if (token === undefined) {
          const { role, id } = await accountOf(runtime, options);
          await tokens.endAll(role, [id]);
          return json ? printJson({ role, user_id: id }) : print('all tokens of the account have ended');
        }
        const found = token.includes('.')
          ? await inspectToken(runtime, token)
          : { jti: token.toLowerCase(), expires_at: '' };
        if (!found.jti) command.error(noToken);
        // An id alone does not say when its token expires, so the id is kept for the longest lifetime of a token.
        const end = found.expires_at ? Date.parse(found.expires_at) : Date.now() + longestTokenHours * 3_600_000;
        await tokens.revoke({ jti: found.jti, expiresAt: Math.ceil(end / 1000) });
        return json ? printJson({ jti: found.jti }) : print(`token ${found.jti} has ended`);
      });
    });
}

export const register: RegisterCommand = (group, context) => {
  addRotate(group, context);
  addIssue(group, context);
  addInspect(group, context);
  addRevoke(group, context);
};
