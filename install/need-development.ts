import { join } from 'node:path';
import { isProduction } from './trim.ts';

// Loaded before tests and benches with `--import`: they would end with the stack trace of a missing package.
if (isProduction(join(import.meta.dirname, '..'))) {
  process.stderr.write('error: the packages for development are not installed: npm ci without --omit=dev\n');
  process.exit(1);
}
