/**
 * A list that one package owns and other packages add to: sections of an order, owners of stock, payment providers. The
 * owner declares it with `defineRegistry` and reads the entries through `ModuleContext.entries`; other packages return
 * `registry.add(entry)` among the contributions of their module.
 */
export type Registry<T> = {
  readonly name: string;
  add(entry: T): Contribution;
};

/** One entry for one registry. */
export type Contribution = { readonly registry: Registry<never>; readonly entry: unknown };

/** `name` is for messages: the package and the list, such as `orders.sections`. */
export function defineRegistry<T>(name: string): Registry<T> {
  const registry: Registry<T> = {
    name,
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
