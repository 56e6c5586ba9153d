import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const checkout = join(import.meta.dirname, '../..');
export const version = (JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string })
  .version;
