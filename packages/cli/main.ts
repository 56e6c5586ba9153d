import { type Command, CommanderError } from 'commander';
import { type FoundCommand, findRunningCommands } from './find-commands.ts';
import { openLazyContext } from './lazy-context.ts';
import { openProgram } from './open-program.ts';

const configFlag = '--config';

/** Reads `--config` before the command line is parsed. */
function configFileIn(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((word) => word === configFlag || word.startsWith(`${configFlag}=`));
  const word = argv[at];
  return word === configFlag ? argv[at + 1] : word?.slice(configFlag.length + 1);
}

/** The name of a command with the groups that it is in: `settings set`. */
function fullNameOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}

/** The full name of a declared command, with a blank at its end. */
const pathOf = ({ group, name }: FoundCommand) => (group === undefined ? `${name} ` : `${group} ${name} `);

/** The names that a command line begins with: `settings`, also in `help settings`. */
const namesIn = (argv: readonly string[]) => argv.filter((word) => !word.startsWith('-')).slice(0, 2);

/** Names the module of an unknown command when the configuration switches that module off. */
function explainUnknown(argv: readonly string[], off: readonly FoundCommand[]): void {
  const [name] = namesIn(argv);
  const command = off.find((one) => one.name === name);
  if (command)
    process.stderr.write(`${name} belongs to the module ${command.owner}, which the configuration switches off\n`);
}

/** Runs one command line and returns its exit code, or undefined when a server continues to run. */
export async function main(argv: readonly string[]): Promise<number | undefined> {
  let command = '';
  const { context, load } = openLazyContext(() => command);
  const { running, off } = await findRunningCommands(configFileIn(argv), load);
  const [first, second] = namesIn(argv);
  try {
    const isNamed = (name: string) => name === first || (first === 'help' && name === second);
    const program = await openProgram(running, context, isNamed);
    await program
      .hook('preAction', async (_program, action) => {
        command = fullNameOf(action);
        if (!running.some((one) => one.standalone && `${command} `.startsWith(pathOf(one)))) await load();
      })
      .parseAsync([...argv], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { exitCodes, reportFailure } = await import('@tradepost/terminal');
    if (!(error instanceof CommanderError)) return reportFailure(error);
    if (error.code === 'commander.unknownCommand') explainUnknown(argv, off);
    return exitCodes.usage;
  }
}
