import { modules, version } from '@tradepost/app';
import { findCommands, openProgram } from '@tradepost/cli';
import { openCommandContext } from '@tradepost/module';

type Tree = Awaited<ReturnType<typeof openProgram>>;

/** The commands that need no argument and no option, and print JSON on request. `settings list`. */
export async function commandsWithJson(): Promise<string[]> {
  const leaves = (command: Tree, path: string[]): string[] => {
    const needs =
      command.registeredArguments.some(({ required }) => required) ||
      command.options.some(({ mandatory }) => mandatory);
    const own = command.options.some(({ long }) => long === '--json') && !needs ? [path.join(' ')] : [];
    return [...own, ...command.commands.flatMap((each) => leaves(each as Tree, [...path, each.name()]))];
  };
  const context = openCommandContext(modules, () => '', version);
  return leaves(await openProgram(await findCommands(), context), []);
}
