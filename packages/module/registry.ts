/**
 * A list that one package owns and other packages add to: sections of an order, owners of stock, payment providers. The
 * owner declares it with `defineRegistry` and reads the entries with `ModuleContext.entries`.
 *
 * A module returns its entries as `contributions` when it opens. Entries of a static registry are listed in
 * `Module.entries` instead: they are known before any module is open, so settings, audits and other modules can depend
 * on them.
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

/** `name` is used in messages. It has the package and the list, such as `orders.sections`. */
export function defineRegistry<T>(name: string, { isStatic = false } = {}): Registry<T> {
  const registry: Registry<T> = {
    name,
    isStatic,
    add: (entry) => ({ registry: registry as Registry<never>, entry }),
  };
  return registry;
}

/**
 * An object that one module opens and others use: the tokens of identity, the inventory of orders. The owner declares
 * it with `defineService` and returns `service.provide(value)` when its module opens. Other modules read it with
 * `ModuleContext.service`.
 */
export type Service<T> = {
  readonly name: string;
  provide(value: T): Provision;
};

export type Provision = { readonly service: Service<never>; readonly value: unknown };

/** `name` is used in messages. It has the package and the service, such as `identity.tokens`. */
export function defineService<T>(name: string): Service<T> {
  const service: Service<T> = {
    name,
    provide: (value) => ({ service: service as Service<never>, value }),
  };
  return service;
}
