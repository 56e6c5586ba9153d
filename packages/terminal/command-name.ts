import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * How this command is called, for lines that an operator pastes into a shell: the name of the command of a service, which may be that
 * of a copy of the shop, or `npx tradepost` where it is not on the PATH.
 */
export function commandName(env: NodeJS.ProcessEnv = process.env): string {
  if (env.TRADEPOST_COMMAND) return env.TRADEPOST_COMMAND;
  // npm puts the programs of the checkout on the PATH of what it starts. The shell of the operator does not have them.
  if (env.npm_command) return 'npx tradepost';
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.some((folder) => existsSync(join(folder, 'tradepost'))) ? 'tradepost' : 'npx tradepost';
}

/** Advice with each command in it (`tradepost migrate`) called by `name`, so that it can be pasted, and means this shop and not another. */
export function asCalled(advice: string, name = commandName()): string {
  return advice.replace(/(?<![\w./-]|npx )tradepost (?=[a-z])/g, () => `${name} `);
}
