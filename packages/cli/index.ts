import { modules, shopCommands, version } from '@tradepost/app';
import { type CommandContext, declaredBy, type Module, openCommandContext } from '@tradepost/module';
import { ConfigError, loadConfig } from '@tradepost/runtime';
import { exitCodes, reportFailure } from '@tradepost/terminal';
import { Command, CommanderError } from 'commander';
import { completionCommand } from './completion/completion.ts';

/** Reads `--config` before the command line is parsed. */
function configFileIn(argv: readonly string[]): string | undefined {
  const flag = '--config';
  const at = argv.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const word = argv[at];
  return word === flag ? argv[at + 1] : word?.slice(flag.length + 1);
}

/**
 * The modules whose commands exist: those that the configuration runs. When the configuration is invalid, all commands exist,
 * and the command itself reports the error.
 */
function modulesFor(argv: readonly string[], context: CommandContext): readonly Module[] {
  try {
    return context.modulesOf(loadConfig({ file: configFileIn(argv) }).config);
  } catch (error) {
    if (error instanceof ConfigError) return modules;
    throw error;
  }
}

/** Builds the tree of commands: the commands of every shop, and those that the modules declare. */
export function openProgram(running: readonly Module[], context: CommandContext): Command {
  const program = new Command('tradepost')
    .description('Self-hosted shop back end: storefront and back-office APIs, stock, orders and payments')
    .version(version)
    .exitOverride()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true })
    .addHelpText(
      'after',
      '\nExample:\n  $ tradepost start          # then open http://127.0.0.1:8080/docs\n\nIn a checkout write npx tradepost: it uses the Node.js of the installation.\n\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 already running.',
    );
  const commands = [...shopCommands, completionCommand, ...declaredBy(running, 'commands')];
  for (const { group, register } of commands.sort((a, b) => a.sort - b.sort)) {
    const parent = group === undefined ? program : program.commands.find((command) => command.name() === group);
    if (!parent) throw new Error(`there is no command group ${group}`);
    register(parent, context);
  }
  return program;
}

/** The name of a command with the groups that it is in: `settings set`. */
function fullNameOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}

/** Names the module of an unknown command when the configuration switches that module off. */
function explainUnknown(argv: readonly string[], running: readonly Module[]): void {
  const name = argv.find((word) => !word.startsWith('-'));
  const owner = modules.find(
    (module) => !running.includes(module) && module.commands?.some((one) => one.name === name),
  );
  if (owner)
    process.stderr.write(`${name} belongs to the module ${owner.name}, which the configuration switches off\n`);
}

/** Runs one command line and returns its exit code, or undefined when a server continues to run. */
export async function main(argv: readonly string[]): Promise<number | undefined> {
  let command = '';
  const context = openCommandContext(modules, () => command, version);
  const running = modulesFor(argv, context);
  try {
    await openProgram(running, context)
      .hook('preAction', (_program, action) => {
        command = fullNameOf(action);
      })
      .parseAsync([...argv], { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportFailure(error);
    if (error.code === 'commander.unknownCommand') explainUnknown(argv, running);
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
}
