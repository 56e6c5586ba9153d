import { text } from 'node:stream/consumers';
import { createStaff } from '@tradepost/identity';
import type { Command } from 'commander';
import { type GlobalOptions, withDatabaseOptions, withRuntime } from '../options.ts';
import { bold, print, printJson } from '../output.ts';

async function readPassword(options: { passwordStdin?: boolean }): Promise<string> {
  if (options.passwordStdin) return (await text(process.stdin)).replace(/\r?\n$/, '');
  const fromEnvironment = process.env.TRADEPOST_PASSWORD;
  if (fromEnvironment) return fromEnvironment;
  throw new Error('give the password on standard input (--password-stdin) or in TRADEPOST_PASSWORD');
}

export function addStaff(program: Command): void {
  const group = program.command('staff').description('administrators');
  withDatabaseOptions(
    group
      .command('create <username>')
      .description('create an administrator; the password comes from standard input or TRADEPOST_PASSWORD')
      .option('--role <name>', 'an existing role; default: Administrator, which may do everything')
      .option('--password-stdin', 'read the password from standard input')
      .option('--json', 'print the result as JSON')
      .addHelpText('after', '\nExample:\n  $ printf %s "$PASSWORD" | tradepost staff create ann --password-stdin'),
  ).action(async (username: string, options: GlobalOptions & { role?: string; passwordStdin?: boolean }) => {
    const { role, passwordStdin, ...rest } = options;
    const password = await readPassword({ passwordStdin: passwordStdin === true });
    if (!/^[\w.@-]{2,64}$/.test(username)) throw new Error('username: 2 to 64 letters, digits and . _ - @');
    if (password.length < 8) throw new Error('password: at least 8 characters');
    await withRuntime(rest, async ({ sql }) => {
      const id = await sql.begin((tx) => createStaff(tx, { username, password, role }));
      if (options.json) return printJson({ id, username });
      print(`administrator ${bold(username)} created (id ${id})`);
    });
  });
}
