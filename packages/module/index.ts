export { chooseModules } from './choose-modules.ts';
export type { DemoCounts, DemoSeed } from './demo-seed.ts';
export type { Menu, MenuEntry, MenuPage, MenuTitle } from './menu.ts';
export type { Module, ModuleContext, OpenedModule } from './module.ts';
export { type OpenedModules, openModules } from './open-modules.ts';
export {
  type Contribution,
  defineRegistry,
  defineService,
  type Provision,
  type Registry,
  type Service,
  type StaticEntries,
} from './registry.ts';
export { staticEntriesOf } from './static-entries.ts';
