import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Shows each fault with the driver that is installed in `folder`. */
const showFaults = (folder: string): Promise<Record<string, string>> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./driver-faults.ts', import.meta.url), {
      workerData: pathToFileURL(join(folder, 'node_modules/postgres/src/index.js')).href,
    });
    worker.on('message', resolve).on('error', reject);
  });

let copy: string;
let patched: Record<string, string>;
let unpatched: Record<string, string>;

/** The unpatched driver is a copy of the installed one, with the patch reversed. */
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'tradepost-driver-'));
  await cp(join(root, 'node_modules/postgres'), join(copy, 'node_modules/postgres'), { recursive: true });
  const patch = (await readdir(join(root, 'patches'))).find((name) => name.startsWith('postgres+'))!;
  await cp(join(root, 'patches', patch), join(copy, 'patches', patch));
  await writeFile(join(copy, 'package.json'), '{}');
  const patchPackage = join(root, 'node_modules/patch-package/index.js');
  await promisify(execFile)(process.execPath, [patchPackage, '--reverse', '--error-on-fail'], { cwd: copy });
  patched = await showFaults(root);
  unpatched = await showFaults(copy);
});
afterAll(() => rm(copy, { recursive: true, force: true }));

describe.each([
  [
    1,
    'statement after the connection is lost',
    'rejected CONNECTION_CLOSED',
    "no answer, exception: Cannot read properties of null (reading 'write')",
  ],
  [2, 'connection lost before a write', 'answered', 'rejected CONNECT_TIMEOUT'],
  [3, 'connection lost while it is opened', 'answered', 'rejected 57P01, rejection: 57P01'],
  [4, 'query of the types fails', 'rejected 57014', 'rejected 57014, rejection: 57014'],
  [5, 'COMMIT of the transaction itself', 'sent: 1', 'sent: 2'],
  [6, 'three statements of 2 kB in one iteration', 'writes: 1', 'writes: 3'],
  [7, 'statement with the option debug', 'one Error', 'an Error for each'],
  [8, 'transaction that goes on after its connection is lost', 'is rejected', 'runs on the next connection'],
])('patch %i, %s', (_number, fault, withPatch, withoutPatch) => {
  test('the installed driver does not have the fault', () => {
    expect(patched[fault]).toBe(withPatch);
  });

  // When this fails after an update of the driver, remove this part of the patch.
  test('the driver without the patch has the fault', () => {
    expect(unpatched[fault]).toBe(withoutPatch);
  });
});
