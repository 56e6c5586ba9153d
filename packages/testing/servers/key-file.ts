import { join } from 'node:path';

/**
 * The key file of the shops and commands that tests start. Several processes often share a database, and have data folders of
 * their own.
 */
export const testKeyFile = join(import.meta.dirname, '../../../node_modules/.cache/tradepost-test-secrets.key');
