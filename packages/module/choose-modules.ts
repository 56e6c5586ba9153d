import { ConfigError } from '@tradepost/runtime';
import type { Module } from './module.ts';

/**
 * The modules that run. `chosen` is `modules` of the configuration: null for all modules, names for only these modules,
 * or names with a minus before each for all other modules. `_` in a name counts as `-`: `group_buy` is group-buy. Required modules always run. Throws ConfigError for an
 * unknown name, for a mixture of both forms, for a required module with a minus, and when a module needs another one
 * that does not run.
 */
export function chooseModules(modules: readonly Module[], chosen: readonly string[] | null): readonly Module[] {
  if (!chosen) return modules;
  const names = chosen.map((name) => name.replaceAll('_', '-'));
  const off = names.filter((name) => name.startsWith('-')).map((name) => name.slice(1));
  if (off.length > 0 && off.length < names.length)
    throw new ConfigError(['modules: give either names, or names with a minus before each']);
  const named = off.length > 0 ? off : names;
  const problems = named
    .filter((name) => !modules.some((module) => module.name === name))
    .map((name) => `modules: there is no module ${name}; there are ${modules.map((module) => module.name).join(', ')}`);
  for (const { name } of modules.filter((module) => module.required && off.includes(module.name)))
    problems.push(`modules: ${name} cannot be switched off`);
  const running = modules.filter(({ name, required }) => required || named.includes(name) === (off.length === 0));
  for (const { name, needs = [] } of running)
    for (const missing of needs.filter((need) => !running.some((module) => module.name === need)))
      problems.push(`modules: ${name} needs ${missing}`);
  if (problems.length > 0) throw new ConfigError(problems);
  return running;
}
