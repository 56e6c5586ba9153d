import { modules, modulesOf, version } from '@tradepost/app';
import { openProgram } from '@tradepost/cli';
import { openCommandContext } from '@tradepost/module';
import { loadConfig } from '@tradepost/runtime';

type Tree = ReturnType<typeof openProgram>;

/** The commands that need no argument and no option, and print JSON on request. `settings list`. */
export function commandsWithJson(): string[] {
  const running = modulesOf(loadConfig({ env: {} }).config);
  const leaves = (command: Tree, path: string[]): string[] => {
    const needs =
      command.registeredArguments.some(({ required }) => required) ||
      command.options.some(({ mandatory }) => mandatory);
    const own = command.options.some(({ long }) => long === '--json') && !needs ? [path.join(' ')] : [];
    return [...own, ...command.commands.flatMap((each) => leaves(each as Tree, [...path, each.name()]))];
  };
  return leaves(
    openProgram(
      running,
      openCommandContext(modules, () => '', version),
    ),
    [],
  );
}
