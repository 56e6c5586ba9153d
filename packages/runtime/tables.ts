import type { Localized } from '@tradepost/core';

/**
 * How the change log treats a table: what it calls a row of a watched table (a migration calls `change_log.watch`), or the
 * reason why the table is not watched.
 */
export type TableInChangeLog =
  | (Localized & {
      /** True: each new row is a change of the object that its column `key` names. */
      readonly isHistory?: boolean;
    })
  | { readonly unwatched: string };

export const runtimeTables: readonly string[] = [
  'runtime.settings',
  'runtime.setting_changes',
  'runtime.idempotency_keys',
  'runtime.workers',
  'runtime.outbox',
  'runtime.secret_keys',
];

/** The schema that graphile-worker creates, and its tables that describe this schema: a backup has no rows of them. */
export const jobSchema = 'graphile_worker';
export const jobSchemaStateTables: readonly string[] = ['graphile_worker.migrations'];

/** SQL functions for all packages: an assertion, and the parts of the text index for searches. */
export const runtimePublishes: readonly string[] = ['runtime.must', 'runtime.grams', 'runtime.grams_sought'];

/** The tables in the change log: the name of a row, or why the table is not watched. */
export const runtimeInChangeLog: Readonly<Record<string, TableInChangeLog>> = {
  'runtime.settings': { unwatched: 'Its history, with secrets masked, is watched instead.' },
  'runtime.setting_changes': { en: 'setting', 'zh-CN': '设置', isHistory: true },
  'runtime.idempotency_keys': { unwatched: 'Rows of single requests.' },
  'runtime.workers': { unwatched: 'Written by the processes of the shop.' },
  'runtime.secret_keys': { unwatched: 'Written by the processes of the shop.' },
  'runtime.outbox': { unwatched: 'Follows from other changes.' },
};
