import type { Channel, Resource, Route } from '@tradepost/http';
import type { Audit, Config, Cron, Metrics, RetentionRule, Runtime, Setting, Tasks } from '@tradepost/runtime';
import type { WithRuntime } from '@tradepost/terminal';
import type { Command } from 'commander';
import type { DemoSeed } from './demo-seed.ts';
import type { DoctorCheck } from './doctor.ts';
import type { MenuEntry } from './menu.ts';
import type { Contribution, Provision, Registry, Service, StaticEntries } from './registry.ts';

/** Everything that one package adds to the shop. `packages/app/modules.ts` has the list of all modules. */
export type Module = {
  /** The name of its package. */
  readonly name: string;
  /** True where no shop runs without it: it runs whether the configuration names it or not. */
  readonly required?: boolean;
  /** Modules whose services or tables it uses. A shop where one of them is switched off does not start with this one. */
  readonly needs?: readonly string[];
  /** The tables it owns, `schema.name`. No other package reads or writes them: `test/architecture/table-ownership.ts` checks it. */
  readonly tables?: readonly string[];
  /** Its views and SQL functions, `schema.name`, that the SQL of other packages may use. */
  readonly publishes?: readonly string[];
  /** Entries of static registries. */
  readonly entries?: readonly Contribution[];
  readonly settings?: readonly Setting[];
  /** Its pages of the console, and the menus that they are in. */
  readonly menu?: readonly MenuEntry[];
  /** Invariants of its tables, which `tradepost audit` checks. */
  readonly audits?: readonly Audit[];
  /** Which of its rows are deleted when they are old. */
  readonly retention?: readonly RetentionRule[];
  /** Its part of the demo shop. */
  readonly seedDemo?: DemoSeed;
  /** Its commands of `tradepost`. */
  readonly commands?: readonly ModuleCommand[];
  /** What `tradepost doctor` checks for it. */
  readonly doctorChecks?: readonly DoctorCheck[];
  /** Its metrics, made with `defineMetrics`. They are created before the module opens. */
  readonly metrics?: (metrics: Metrics) => unknown;
  /** Further settings and audits: those that depend on the static entries of all modules that run. */
  readonly declares?: (entries: StaticEntries) => Pick<Module, 'settings' | 'audits'>;
  /** Opens its services and says what this process does with them. Modules open in the order of the list. */
  readonly open?: (context: ModuleContext) => OpenedModule | Promise<OpenedModule>;
};

export type OpenedModule = {
  readonly provides?: readonly Provision[];
  /** Entries of registries that are not static. */
  readonly contributions?: readonly Contribution[];
  /** Called once, when all modules are open: entries of registries are complete. */
  readonly routes?: () => readonly Route[];
  readonly resources?: readonly Resource[];
  /** WebSocket endpoints. Called once, as `routes` is. */
  readonly channels?: () => readonly Channel[];
  readonly tasks?: Tasks;
  readonly crons?: readonly Cron[];
  /** Called in the reverse order of the list. */
  readonly close?: () => Promise<void>;
};

/** What a module can ask for while the shop is being opened, and afterwards. */
export type ModuleContext = {
  readonly runtime: Runtime;
  /** The modules that are switched on. */
  readonly modules: readonly Module[];
  /** A service of a module before this one in the list. Throws when there is none. */
  service<T>(service: Service<T>): T;
  /** The entries of a registry, in the order of the list. Throws before all modules are open, except for a static registry. */
  entries<T>(registry: Registry<T>): readonly T[];
  /** The routes of all modules. Throws before they are made. */
  routes(): readonly Route[];
};

/** A command of `tradepost` that a package adds: one of the top level, or one below a group such as `wms`. */
export type ModuleCommand = {
  readonly name: string;
  /** The group of another package that it is added to. The group must have a smaller `sort`. */
  readonly group?: string;
  /** Its place in `tradepost --help`, over all packages. */
  readonly sort: number;
  /** Adds the command to the program, or to its group. */
  readonly register: (parent: Command, context: CommandContext) => void;
};

/** What every command gets when it is registered. */
export type CommandContext = {
  /** Opens the shop with the settings of the modules that its configuration runs. */
  readonly withRuntime: WithRuntime;
  /** The modules that a configuration runs. Throws ConfigError where they cannot run together. */
  modulesOf(config: Pick<Config, 'modules'>): readonly Module[];
};
