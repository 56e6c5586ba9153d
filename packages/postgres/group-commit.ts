import { type Coalesced, type CoalesceOptions, coalesce } from '@tradepost/core';
import { postgresErrors } from './errors.ts';

/**
 * The server said that a statement failed, so the transaction is known to be rolled back. A lost connection (class 08),
 * an operator's shutdown (57) or a client-side error says nothing about a commit under way: repeating could do it twice.
 */
function certainlyRolledBack(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return false;
  const state = String((error as { code?: unknown }).code ?? '');
  return /^[0-9A-Z]{5}$/.test(state) && !state.startsWith('08') && !state.startsWith('57');
}

/** Whether the connection was lost during a statement: its outcome is unknown. */
export function lostConnection(error: unknown): boolean {
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  return /^(CONNECT|ECONN|EPIPE|ETIMEDOUT|08|57P)/.test(code);
}

/**
 * Group commit: concurrent writes share one transaction. `writeMany` writes a batch and answers in the order of its items.
 * When it throws and the transaction is known to be rolled back, the items are repeated one by one, so that one bad item
 * cannot fail its neighbours. When the connection was lost, every caller is told that the outcome is unknown.
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
