import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const checkout = join(import.meta.dirname, '../..');
/** The files of the demo shop. */
export const fixturesFolder = join(checkout, 'fixtures/demo');
export const version = (JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string })
  .version;
