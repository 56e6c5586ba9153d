import { globSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** Folders that hold no files of the checkout. */
const skipped = /^(node_modules|\.git|\.tradepost|coverage)$/;

/** Files of the checkout that match one of the patterns: sorted paths from its root. */
export function filesOf(patterns: readonly string[]): string[] {
  const found = globSync([...patterns], { cwd: root, exclude: (name) => skipped.test(name) });
  return found.map((path) => path.replaceAll('\\', '/')).sort();
}

/** Tests, what only tests import (the `testing` folder of a package), and the package `@tradepost/testing`: path from the root. */
export const isTestFile = (path: string): boolean =>
  path.endsWith('.test.ts') || /^packages\/(?:[^/]+\/)?testing\//.test(path);
