import type { Module } from './module.ts';
import { staticEntriesOf } from './static-entries.ts';

/**
 * The entries of one list, such as `settings`, of all these modules in their order. `all` has also the modules that are switched
 * off.
 */
export const declaredBy = <K extends 'settings' | 'audits' | 'retention' | 'doctorChecks' | 'events' | 'sealed'>(
  chosen: readonly Module[],
  list: K,
  all: readonly Module[] = chosen,
): NonNullable<Module[K]>[number][] => {
  const entries = staticEntriesOf(chosen);
  const known = staticEntriesOf(all);
  return chosen.flatMap((module) => {
    const dependent = module.declares?.(entries, known) as Pick<Module, K> | undefined;
    return [...(module[list] ?? []), ...(dependent?.[list] ?? [])];
  });
};
