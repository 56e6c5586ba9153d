import { globSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** Folders without source files. */
const skipped = /^(node_modules|\.git|\.tradepost|coverage)$/;

/** Files of the checkout that match one of the patterns: sorted paths from its root. */
export function filesOf(patterns: readonly string[]): string[] {
  const found = globSync([...patterns], { cwd: root, exclude: (name) => skipped.test(name) });
  return found.map((path) => path.replaceAll('\\', '/')).sort();
}

/** Whether a path is a test, a file that only tests import (folder `testing` of a package), or in `@tradepost/testing`. */
export const isTestFile = (path: string): boolean =>
  path.endsWith('.test.ts') || /^packages\/(?:[^/]+\/)?testing\//.test(path);
