/** The table that records which migrations have run. */
export const postgresTables: readonly string[] = ['runtime.migrations'];

/** Tables that describe the schema, not the shop: a backup has no rows of them. */
export const schemaStateTables: readonly string[] = ['runtime.migrations', 'runtime.restoring'];
