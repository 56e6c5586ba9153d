/** The table that records which migrations have run. */
export const postgresTables: readonly string[] = ['runtime.migrations'];
