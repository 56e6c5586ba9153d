import type { Config } from '@tradepost/runtime';
import { runtimeOpener } from '@tradepost/terminal';
import { chooseModules } from './choose-modules.ts';
import { declaredBy } from './declared-by.ts';
import type { CommandContext, Module } from './module.ts';

/** `modules` is the list of all modules of the shop. `commandName` returns the name of the command that runs. */
export function openCommandContext(
  modules: readonly Module[],
  commandName: () => string,
  version: string,
): CommandContext {
  const modulesOf = (config: Pick<Config, 'modules'>) => chooseModules(modules, config.modules ?? null);
  const settingsOf = (config: Pick<Config, 'modules'>) => declaredBy(modulesOf(config), 'settings', modules);
  return { modules, version, modulesOf, settingsOf, withRuntime: runtimeOpener(settingsOf, commandName, version) };
}
