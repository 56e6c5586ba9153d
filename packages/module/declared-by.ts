import type { Module } from './module.ts';
import { staticEntriesOf } from './static-entries.ts';

/** The entries of one list, such as `settings`, of all these modules in their order. */
export const declaredBy = <K extends 'settings' | 'audits' | 'retention' | 'commands' | 'doctorChecks'>(
  chosen: readonly Module[],
  list: K,
): NonNullable<Module[K]>[number][] => {
  const entries = staticEntriesOf(chosen);
  return chosen.flatMap((module) => {
    const dependent = module.declares?.(entries) as Pick<Module, K> | undefined;
    return [...(module[list] ?? []), ...(dependent?.[list] ?? [])];
  });
};
