import { version } from '@tradepost/app/version';
import type { CommandContext } from '@tradepost/module';
import { Command } from 'commander';
import type { FoundCommand } from './find-commands.ts';

const footer = `
Example:
  $ tradepost start          # then open http://127.0.0.1:8080/docs

In a checkout write npx tradepost: it uses the Node.js of the installation.

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 already running.`;

/**
 * Builds the tree of commands. Only the commands for which `isWanted` is true have arguments, options and an action; the others have
 * a name and a description.
 */
export async function openProgram(
  commands: readonly FoundCommand[],
  context: CommandContext,
  isWanted: (topLevelName: string) => boolean = () => true,
): Promise<Command> {
  const program = new Command('tradepost')
    .description('Self-hosted shop back end: storefront and back-office APIs, stock, orders and payments')
    .version(version)
    .exitOverride()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true })
    .addHelpText('after', footer);
  const wanted = commands.filter(({ name, group }) => isWanted(group ?? name));
  const loaded = new Map(
    await Promise.all(wanted.map(async (command) => [command, (await command.load()).register] as const)),
  );
  for (const command of commands) {
    const { name, group, description } = command;
    const register = loaded.get(command);
    // A group that is not wanted has none of its commands.
    if (group !== undefined && !register) continue;
    const parent = group === undefined ? program : program.commands.find((one) => one.name() === group);
    if (!parent) throw new Error(`there is no command group ${group}`);
    const added = parent.command(name).description(description);
    register?.(added, context);
  }
  return program;
}
