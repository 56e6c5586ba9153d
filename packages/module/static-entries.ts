import type { Module } from './module.ts';
import type { Registry, StaticEntries } from './registry.ts';

/** Reads the static entries of these modules, in the order of the modules. */
export function staticEntriesOf(modules: readonly Module[]): StaticEntries {
  const listed = modules.flatMap((module) => module.entries ?? []);
  const wrong = listed.find(({ registry }) => !registry.isStatic);
  if (wrong) throw new Error(`${wrong.registry.name} is not static: its entries are contributions of an opened module`);
  return <T>(registry: Registry<T>): readonly T[] =>
    listed.filter((one) => one.registry === (registry as Registry<never>)).map(({ entry }) => entry as T);
}
