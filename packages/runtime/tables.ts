export const runtimeTables: readonly string[] = [
  'runtime.settings',
  'runtime.setting_changes',
  'runtime.idempotency_keys',
  'runtime.workers',
];

/** SQL functions for all packages: an assertion, and the parts of the text index for searches. */
export const runtimePublishes: readonly string[] = ['runtime.must', 'runtime.grams', 'runtime.grams_sought'];
