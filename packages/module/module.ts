import type { Channel, Resource, Route } from '@tradepost/http';
import type {
  Audit,
  Config,
  Cron,
  EventKind,
  Loop,
  Metrics,
  RetentionRule,
  Runtime,
  SealedColumn,
  Setting,
  TableInChangeLog,
  Tasks,
} from '@tradepost/runtime';
import type { WithRuntime } from '@tradepost/terminal';
import type { Command } from 'commander';
import type { DemoSeed } from './demo-seed.ts';
import type { DoctorCheck } from './doctor.ts';
import type { MenuEntry } from './menu.ts';
import type { Contribution, Provision, Registry, Service, StaticEntries } from './registry.ts';

/** Everything that one package adds to the shop. `packages/app/modules.ts` lists all modules. */
export type Module = {
  /** The name of the package. */
  readonly name: string;
  /** True when the module cannot be switched off. It also runs when the configuration does not name it. */
  readonly required?: boolean;
  /**
   * Modules whose services or tables this module uses. The shop does not start with this module when one of them is
   * switched off.
   */
  readonly needs?: readonly string[];
  /** Its tables as `schema.name`. Other packages do not read or write them (`test/architecture/table-ownership.ts`). */
  readonly tables?: readonly string[];
  /** Each of its tables in the change log. Without an entry the tests fail. */
  readonly changeLog?: Readonly<Record<string, TableInChangeLog>>;
  /** Its views and SQL functions as `schema.name`. The SQL of other packages may use them. */
  readonly publishes?: readonly string[];
  /** Entries of static registries. */
  readonly entries?: readonly Contribution[];
  readonly settings?: readonly Setting[];
  /** Its pages of the console, and the menus of these pages. */
  readonly menu?: readonly MenuEntry[];
  /** The invariants of its tables. `tradepost audit` checks them. */
  readonly audits?: readonly Audit[];
  /** The events that it records (`recordEvents`). */
  readonly events?: readonly EventKind[];
  /** The rules that delete its old rows. */
  readonly retention?: readonly RetentionRule[];
  /** Its columns with encrypted secrets (`runtime.secrets`). `tradepost secrets rotate` encrypts them again. */
  readonly sealed?: readonly SealedColumn[];
  /** Its part of the demo shop. */
  readonly seedDemo?: DemoSeed;
  /** Its checks for `tradepost doctor`. */
  readonly doctorChecks?: readonly DoctorCheck[];
  /** Creates its metrics, with `defineMetrics`. Called before the module opens. */
  readonly metrics?: (metrics: Metrics) => unknown;
  /**
   * Further settings, audits and doctor checks, which depend on the static entries of all modules that run. `known` reads also
   * the entries of modules that are switched off: a setting that names them stays valid.
   */
  readonly declares?: (
    entries: StaticEntries,
    known: StaticEntries,
  ) => Pick<Module, 'settings' | 'audits' | 'doctorChecks'>;
  /** Opens its services and returns its routes, jobs and registry entries. Modules open in the order of the list. */
  readonly open?: (context: ModuleContext) => OpenedModule | Promise<OpenedModule>;
};

export type OpenedModule = {
  readonly provides?: readonly Provision[];
  /** Entries of registries that are not static. */
  readonly contributions?: readonly Contribution[];
  /** Called once, after all modules are open. The entries of the registries are complete then. */
  readonly routes?: () => readonly Route[];
  readonly resources?: readonly Resource[];
  /** WebSocket endpoints. Called once, after all modules are open. */
  readonly channels?: () => readonly Channel[];
  readonly tasks?: Tasks;
  readonly crons?: readonly Cron[];
  /** Work that worker processes repeat in short intervals. */
  readonly loops?: readonly Loop[];
  /** Called in the reverse order of the list. */
  readonly close?: () => Promise<void>;
};

/** The access of a module to the runtime and to other modules, during the opening and afterwards. */
export type ModuleContext = {
  readonly runtime: Runtime;
  /** The modules that are switched on. */
  readonly modules: readonly Module[];
  /** A service of an earlier module in the list. Throws when no earlier module provides it. */
  service<T>(service: Service<T>): T;
  /**
   * The entries of a registry, in the order of the modules. Throws before all modules are open, except for a static
   * registry.
   */
  entries<T>(registry: Registry<T>): readonly T[];
  /** The routes of all modules. Throws before they exist. */
  routes(): readonly Route[];
};

/**
 * A command of `tradepost`: at the top level, or in a group such as `wms`. A package lists its own in `commands/index.ts`, which
 * imports no code of them: the help names every command and loads none.
 */
export type ModuleCommand = {
  readonly name: string;
  /** The group of another package. That group must have a smaller `sort`. */
  readonly group?: string;
  /** The position in `tradepost --help`, over all packages. */
  readonly sort: number;
  readonly description: string;
  /** True for a command that uses nothing of its context, such as a simulator: the modules are not loaded for it. */
  readonly standalone?: boolean;
  /** Imports the file of the command, when the command or its own help is asked for. */
  readonly load: () => Promise<{ readonly register: RegisterCommand }>;
};

/** Adds arguments, options, commands and the action to a command. The parts of `context` exist when the action runs. */
export type RegisterCommand = (command: Command, context: CommandContext) => void;

/** The argument of `register` for every command. */
export type CommandContext = {
  /** Opens the shop with the settings of the modules that its configuration runs. */
  readonly withRuntime: WithRuntime;
  /** The modules that run with a configuration. Throws ConfigError when they cannot run together. */
  modulesOf(config: Pick<Config, 'modules'>): readonly Module[];
  /** The settings of these modules. */
  settingsOf(config: Pick<Config, 'modules'>): readonly Setting[];
  /** The release of this program. */
  readonly version: string;
  /** All modules of the shop, also those that are switched off. */
  readonly modules: readonly Module[];
};
