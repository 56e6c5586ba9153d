import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeTemporaryFolder } from './temporary-folder.ts';

/** Runs the suite. The last line of its output is `N passed, N failed, N skipped`. Arguments are passed to vitest. */
const temporary = await makeTemporaryFolder();
const report = join(temporary.folder, 'report.json');
const child = spawn(
  process.execPath,
  [
    join(import.meta.dirname, '../node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    `--reporter=${fileURLToPath(import.meta.resolve('./slowest-files.ts'))}`,
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', env: { ...process.env, TMPDIR: temporary.folder } },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 1)));
type Report = { numPassedTests: number; numFailedTests: number; numPendingTests: number; numTodoTests: number };
const result = await readFile(report, 'utf8').then(
  (text) => JSON.parse(text) as Report,
  () => ({ numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0 }),
);
await temporary.remove();
// A file that fails outside its tests (in a hook, at an import, with a leaked connection) counts as one failed test.
const failed = result.numFailedTests === 0 && code !== 0 ? 1 : result.numFailedTests;
const skipped = result.numPendingTests + result.numTodoTests;
process.stdout.write(`\n${result.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
process.exit(failed > 0 || code !== 0 ? 1 : 0);
