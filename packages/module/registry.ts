/**
 * A list that one package owns and other packages add to: sections of an order, owners of stock, payment providers. The
 * owner declares it with `defineRegistry` and reads the entries through `ModuleContext.entries`.
 *
 * A module returns entries among its contributions when it opens. Entries of a static registry are listed in
 * `Module.entries` instead: they are known before any module is open, so settings, audits and other modules can depend on them.
 */
export type Registry<T> = {
  readonly name: string;
  readonly isStatic: boolean;
  add(entry: T): Contribution;
};

/** One entry for one registry. */
export type Contribution = { readonly registry: Registry<never>; readonly entry: unknown };

/** Reads the entries of static registries. */
export type StaticEntries = <T>(registry: Registry<T>) => readonly T[];

/** `name` is for messages: the package and the list, such as `orders.sections`. */
export function defineRegistry<T>(name: string, { isStatic = false } = {}): Registry<T> {
  const registry: Registry<T> = {
    name,
    isStatic,
    add: (entry) => ({ registry: registry as Registry<never>, entry }),
  };
  return registry;
}

/**
 * What one module opens for others: the tokens of identity, the inventory that orders use. The owner declares it with
 * `defineService`, returns `service.provide(value)` when its module opens, and others read it with `ModuleContext.service`.
 */
export type Service<T> = {
  readonly name: string;
  provide(value: T): Provision;
};

export type Provision = { readonly service: Service<never>; readonly value: unknown };

/** `name` is for messages: the package and the service, such as `identity.tokens`. */
export function defineService<T>(name: string): Service<T> {
  const service: Service<T> = {
    name,
    provide: (value) => ({ service: service as Service<never>, value }),
  };
  return service;
}
