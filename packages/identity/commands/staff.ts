import type { CommandContext, RegisterCommand } from '@tradepost/module';
import type { Runtime } from '@tradepost/runtime';
import {
  askForPassword,
  bold,
  type GlobalOptions,
  print,
  printJson,
  readSecret,
  table,
  UsageError,
  withDatabaseOptions,
} from '@tradepost/terminal';
import type { Command } from 'commander';
import { createStaff } from '../shoppers/accounts.ts';
import { changeStaff } from '../staff/manage-staff.ts';
import { operator } from '../staff/permissions.ts';
import { minPassword, usernamePattern } from '../staff/staff-schemas.ts';
import { type StaffWithRole, selectAllStaff } from '../staff/staff-store.ts';
import { openTokens } from '../tokens/tokens.ts';

type PasswordOptions = GlobalOptions & { passwordStdin?: boolean };

async function readPassword({ passwordStdin }: PasswordOptions): Promise<string> {
  const fromEnv = process.env.TRADEPOST_PASSWORD;
  const instead = 'give the password on standard input (--password-stdin) or in TRADEPOST_PASSWORD';
  const given = passwordStdin
    ? await readSecret('Password', { confirm: true })
    : fromEnv || (await askForPassword('Password', instead));
  // A login form accepts one line.
  if (/[\r\n]/.test(given)) throw new UsageError('password: one line only');
  if (given.length < minPassword) throw new UsageError(`password: at least ${minPassword} characters`);
  return given;
}

/** The administrator with this name. Throws when there is no such administrator. */
export async function staffNamed({ sql }: Pick<Runtime, 'sql'>, username: string): Promise<StaffWithRole> {
  const staff = (await selectAllStaff(sql)).find((row) => row.username === username);
  if (!staff) throw new Error(`there is no administrator ${username}: tradepost staff list`);
  return staff;
}

function addCreate(group: Command, context: CommandContext): void {
  withDatabaseOptions(
    group
      .command('create <username>')
      .description(
        'create an administrator; the password is read from standard input, TRADEPOST_PASSWORD or a hidden prompt',
      )
      .option('--role <name>', 'an existing role; default: Administrator, which has all permissions')
      .option('--password-stdin', 'read the password from standard input')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ printf %s "$PASSWORD" | tradepost staff create ann --password-stdin'),
  ).action(async (username: string, options: PasswordOptions & { role?: string }) => {
    const { role, passwordStdin: _, ...rest } = options;
    const password = await readPassword(options);
    if (!usernamePattern.test(username)) throw new UsageError('username: 2 to 64 letters, digits and . _ - @');
    await context.withRuntime(rest, async ({ sql }) => {
      const id = await sql.begin((tx) => createStaff(tx, { username, password, role }));
      if (options.json) return printJson({ id, username });
      print(`administrator ${bold(username)} created (id ${id})`);
    });
  });
}

/** Changes one administrator by the same rules as the console, and ends the tokens of the account when required. */
async function change(
  context: CommandContext,
  options: GlobalOptions,
  username: string,
  changes: { password?: string; status?: 0 | 1 },
  done: string,
): Promise<void> {
  const { json, ...rest } = options;
  await context.withRuntime(rest, async (runtime) => {
    const { id } = await staffNamed(runtime, username);
    const tokens = await openTokens(runtime);
    await changeStaff({ runtime, tokens }, operator, id, changes).finally(() => tokens.close());
    if (json) return printJson({ id, username, ...('status' in changes ? { status: changes.status } : {}) });
    print(`administrator ${bold(username)}: ${done}`);
  });
}

export const register: RegisterCommand = (group, context) => {
  addCreate(group, context);
  withDatabaseOptions(
    group
      .command('passwd <username>')
      .description(
        'set a new password, read from standard input, TRADEPOST_PASSWORD or a hidden prompt; ends all tokens of the account',
      )
      .option('--password-stdin', 'read the password from standard input')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ printf %s "$PASSWORD" | tradepost staff passwd ann --password-stdin'),
  ).action(async (username: string, options: PasswordOptions) => {
    const { passwordStdin: _, ...rest } = options;
    const password = await readPassword(options);
    await change(context, rest, username, { password }, 'new password set, logged out everywhere');
  });
  withDatabaseOptions(
    group
      .command('disable <username>')
      .description(
        'disable an administrator and end all tokens of the account; refused for the last one with all permissions',
      )
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost staff disable ann'),
  ).action((username: string, options: GlobalOptions) =>
    change(context, options, username, { status: 0 }, 'disabled, logged out everywhere'),
  );
  withDatabaseOptions(
    group
      .command('enable <username>')
      .description('enable an administrator, who can then log in again')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost staff enable ann'),
  ).action((username: string, options: GlobalOptions) => change(context, options, username, { status: 1 }, 'enabled'));
  withDatabaseOptions(
    group
      .command('list')
      .description('list all administrators with their roles')
      .option('--json', 'print the administrators as JSON')
      .addHelpText('after', '\nExample:\n  $ tradepost staff list'),
  ).action((options: GlobalOptions) =>
    context.withRuntime(options, async ({ sql }) => {
      const rows = (await selectAllStaff(sql)).map(({ id, username, role_name, permissions, status, created_at }) => ({
        ...{ id, username, role_name, permissions, status },
        created_at: created_at.toISOString(),
      }));
      if (options.json) return printJson(rows);
      const shown = rows.map((row) => [
        String(row.id),
        row.username,
        row.role_name,
        row.status === 1 ? 'enabled' : 'disabled',
        row.permissions.join(' '),
      ]);
      print(table([['ID', 'NAME', 'ROLE', 'STATE', 'PERMISSIONS'], ...shown]));
    }),
  );
};
