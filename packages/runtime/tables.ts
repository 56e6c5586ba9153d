export const runtimeTables: readonly string[] = [
  'runtime.settings',
  'runtime.setting_changes',
  'runtime.idempotency_keys',
  'runtime.workers',
];

/** Functions for the SQL of every package: an assertion, and the text index of searches. */
export const runtimePublishes: readonly string[] = ['runtime.must', 'runtime.grams', 'runtime.grams_sought'];
