import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of the program, for the manifests of backups. */
export const programVersion = (
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string }
).version;
