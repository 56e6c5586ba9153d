import { type Coalesced, type CoalesceOptions, coalesce } from '@tradepost/core';
import { postgresErrors } from './errors.ts';

/**
 * Whether the server reported that a statement failed. Then the transaction is rolled back. After a lost connection
 * (SQLSTATE class 08), a shutdown by an operator (57) or an error of the client, COMMIT may have succeeded: a
 * repetition could write twice.
 */
function certainlyRolledBack(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return false;
  const state = String((error as { code?: unknown }).code ?? '');
  return /^[0-9A-Z]{5}$/.test(state) && !state.startsWith('08') && !state.startsWith('57');
}

/** Whether the connection was lost during a statement. The outcome of the statement is unknown. */
export function lostConnection(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  return /^(CONNECT|ECONN|EPIPE|ETIMEDOUT|08|57P)/.test(code);
}

/**
 * Whether the server refused a new connection: its account may not log in, its password is another one, or all connections
 * are in use. The statement was not sent, so it has changed nothing.
 */
export function refusedConnection(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  return /^(28000|28P01|53300)$/.test(code);
}

/** Whether a query had no answer because its connection was lost, or no connection was given. */
export const databaseUnavailable = (error: unknown): boolean => lostConnection(error) || refusedConnection(error);

/**
 * Group commit: concurrent writes share one transaction. `writeMany` writes a batch and returns one outcome per item,
 * in the order of the items. When it throws and the transaction was rolled back, the items are repeated one by one, so
 * one bad item cannot fail the others. When the connection was lost, every caller gets the error `unknown_outcome`.
 */
export function groupCommit<I, O>(
  writeMany: (items: readonly I[]) => Promise<readonly (O | Error)[]>,
  options: Omit<CoalesceOptions, 'isUndone' | 'errorFor'> = {},
): Coalesced<I, O> {
  return coalesce(writeMany, {
    ...options,
    isUndone: certainlyRolledBack,
    errorFor: (error) =>
      lostConnection(error) ? Object.assign(postgresErrors.unknown_outcome(), { cause: error }) : error,
  });
}
