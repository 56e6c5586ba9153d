import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CommandContext, ModuleCommand } from '@tradepost/module';

export type FoundCommand = ModuleCommand & {
  /** The name of the package. */
  readonly owner: string;
};

const packages = join(import.meta.dirname, '..');

/** Finds the commands of all packages: those that `commands/index.ts` lists. They are in the order of the help. */
export async function findCommands(): Promise<FoundCommand[]> {
  const found = await Promise.all(
    (await readdir(packages)).sort().map(async (owner) => {
      const file = join(packages, owner, `commands/index${extname(import.meta.filename)}`);
      if (!existsSync(file)) return [];
      const { commands } = (await import(pathToFileURL(file).href)) as { commands: readonly ModuleCommand[] };
      return commands.map((command) => ({ ...command, owner }));
    }),
  );
  return found.flat().sort((a, b) => a.sort - b.sort);
}

/**
 * Finds the commands of the modules that the configuration runs, and those of modules that are switched off. When the
 * configuration is invalid, all commands exist, and the command itself reports the error. `load` imports all modules: it is called
 * only where a configuration may choose modules.
 */
export async function findRunningCommands(
  configFile: string | undefined,
  load: () => Promise<CommandContext>,
): Promise<{ running: FoundCommand[]; off: FoundCommand[] }> {
  const commands = await findCommands();
  const { TRADEPOST_CONFIG, TRADEPOST_MODULES } = process.env;
  if (!configFile && !TRADEPOST_CONFIG && !TRADEPOST_MODULES) return { running: commands, off: [] };
  const [{ ConfigError, loadConfig }, context] = await Promise.all([import('@tradepost/runtime'), load()]);
  try {
    const running = context.modulesOf(loadConfig({ file: configFile }).config);
    const namesOff = context.modules.filter((module) => !running.includes(module)).map(({ name }) => name);
    const isOff = ({ owner }: FoundCommand) => namesOff.includes(owner);
    return { running: commands.filter((command) => !isOff(command)), off: commands.filter(isOff) };
  } catch (error) {
    if (error instanceof ConfigError) return { running: commands, off: [] };
    throw error;
  }
}
