import type { Module, ModuleContext, OpenedModule } from '@tradepost/module';

/** The lists of a module that each part adds to. */
const lists = [
  'tables',
  'publishes',
  'entries',
  'settings',
  'menu',
  'audits',
  'events',
  'retention',
  'doctorChecks',
] as const;

/** What one folder of this package adds to the module: `shipments`, `carriers`, `after-sales`. */
export type Part = Pick<Module, (typeof lists)[number] | 'metrics' | 'changeLog'> & {
  readonly open?: (context: ModuleContext) => OpenedModule;
};

const joined = <K extends keyof OpenedModule>(opened: readonly OpenedModule[], list: K) =>
  opened.flatMap((part) => (part[list] ?? []) as never[]);

function joinOpened(opened: readonly OpenedModule[]): OpenedModule {
  return {
    provides: joined(opened, 'provides'),
    contributions: joined(opened, 'contributions'),
    resources: joined(opened, 'resources'),
    crons: joined(opened, 'crons'),
    routes: () => opened.flatMap((part) => part.routes?.() ?? []),
    channels: () => opened.flatMap((part) => part.channels?.() ?? []),
    tasks: Object.assign({}, ...opened.map((part) => part.tasks)),
    async close() {
      await Promise.all(opened.map((part) => part.close?.()));
    },
  };
}

/** The declaration of a module from its parts, in their order. */
export function joinParts(parts: readonly Part[]): Omit<Module, 'name'> {
  const declared = Object.fromEntries(
    lists.map((list) => [list, parts.flatMap((part) => (part[list] ?? []) as never[])]),
  );
  return {
    ...declared,
    changeLog: Object.assign({}, ...parts.map((part) => part.changeLog)),
    metrics: (metrics) => parts.map((part) => part.metrics?.(metrics)),
    open: (context) => joinOpened(parts.map((part) => part.open?.(context) ?? {})),
  };
}
