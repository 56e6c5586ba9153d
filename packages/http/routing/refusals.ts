import { type AppError, type Refusal, type RefusalFactory, serviceErrors } from '@tradepost/core';
import { postgresErrors } from '@tradepost/postgres';
import { runtimeErrors } from '@tradepost/runtime';
import { httpErrors } from './errors.ts';
import type { Route } from './route.ts';
import { type UnnamedRefusal, unnamedRefusals } from './unnamed-refusals.ts';

const rowsOf = (errors: Readonly<Record<string, RefusalFactory>>) =>
  Object.values(errors).map(({ refusal }) => refusal);

/**
 * Refusals that every route can answer; routes do not name them: faults of the protocol, invalid input, authentication,
 * Idempotency-Key, a busy or stopping process, a lost database connection, an internal error.
 */
export const commonRefusals: ReadonlySet<Refusal> = new Set([
  ...rowsOf(httpErrors),
  ...rowsOf(serviceErrors),
  ...rowsOf(postgresErrors),
  runtimeErrors.key_reused.refusal,
  runtimeErrors.key_in_progress.refusal,
  runtimeErrors.key_outcome_unknown.refusal,
  runtimeErrors.too_many_keys.refusal,
]);

/** Compares rows and not names, because two packages may use the same name. */
const isNamed = ({ refuses = [] }: Route, { refusal }: AppError): boolean =>
  commonRefusals.has(refusal) || refuses.some((factory) => factory.refusal === refusal);

/** Publishes a refusal that the route should have named. Call it with every refusal that a route answers. */
export function checkNamed(route: Route, refusal: AppError): void {
  if (unnamedRefusals.hasSubscribers && !isNamed(route, refusal))
    unnamedRefusals.publish({ route, refusal } satisfies UnnamedRefusal);
}
