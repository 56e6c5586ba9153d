import type { Channel, Resource, Route } from '@tradepost/http';
import type { Cron, Loop, Runtime, Tasks } from '@tradepost/runtime';
import type { Module, ModuleContext, OpenedModule } from './module.ts';
import type { Registry, Service } from './registry.ts';
import { staticEntriesOf } from './static-entries.ts';

export type OpenedModules = {
  readonly context: ModuleContext;
  readonly routes: readonly Route[];
  /** The routes of one module. Empty when the module is switched off. */
  routesOf(name: string): readonly Route[];
  readonly resources: readonly Resource[];
  readonly channels: readonly Channel[];
  readonly tasks: Tasks;
  readonly crons: readonly Cron[];
  readonly loops: readonly Loop[];
  close(): Promise<void>;
};

function mergedTasks(opened: readonly OpenedModule[]): Tasks {
  const tasks: Record<string, Tasks[string]> = {};
  for (const [name, handler] of opened.flatMap((module) => Object.entries(module.tasks ?? {}))) {
    if (Object.hasOwn(tasks, name)) throw new Error(`two modules have the task ${name}`);
    tasks[name] = handler;
  }
  return tasks;
}

/** Opens the modules in their order, then creates their routes. When a module fails, the opened modules are closed. */
export async function openModules(runtime: Runtime, modules: readonly Module[]): Promise<OpenedModules> {
  const staticEntries = staticEntriesOf(modules);
  const opened = new Map<string, OpenedModule>();
  const services = new Map<Service<never>, unknown>();
  const entries = new Map<Registry<never>, unknown[]>();
  const routesByModule = new Map<string, readonly Route[]>();
  let routes: readonly Route[] | null = null;
  let allOpen = false;
  const context: ModuleContext = {
    runtime,
    modules,
    service<T>(service: Service<T>): T {
      const key = service as Service<never>;
      if (!services.has(key)) throw new Error(`no module before this one provides ${service.name}`);
      return services.get(key) as T;
    },
    entries<T>(registry: Registry<T>): readonly T[] {
      if (registry.isStatic) return staticEntries(registry);
      if (!allOpen) throw new Error(`${registry.name} is read before all modules are open`);
      return (entries.get(registry as Registry<never>) ?? []) as T[];
    },
    routes() {
      if (!routes) throw new Error('the routes are read before they exist');
      return routes;
    },
  };
  const close = async () => {
    for (const [name, module] of [...opened].reverse())
      await module
        .close?.()
        .catch((error: unknown) => runtime.log.warn({ err: error, module: name }, 'a module failed to close'));
  };
  try {
    for (const module of modules) {
      module.metrics?.(runtime.metrics);
      const result = (await module.open?.(context)) ?? {};
      opened.set(module.name, result);
      for (const { service, value } of result.provides ?? []) {
        if (services.has(service)) throw new Error(`two modules provide ${service.name}`);
        services.set(service, value);
      }
      for (const { registry, entry } of result.contributions ?? []) {
        if (registry.isStatic)
          throw new Error(`${module.name} adds to ${registry.name} too late: list it in Module.entries`);
        entries.set(registry, [...(entries.get(registry) ?? []), entry]);
      }
    }
    allOpen = true;
    for (const [name, module] of opened) routesByModule.set(name, module.routes?.() ?? []);
    routes = [...routesByModule.values()].flat();
    const all = [...opened.values()];
    return {
      context,
      routes,
      routesOf: (name) => routesByModule.get(name) ?? [],
      resources: all.flatMap((module) => module.resources ?? []),
      channels: all.flatMap((module) => module.channels?.() ?? []),
      tasks: mergedTasks(all),
      crons: all.flatMap((module) => module.crons ?? []),
      loops: all.flatMap((module) => module.loops ?? []),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
