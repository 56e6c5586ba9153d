import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../../..');

/** Writes the modules of the checkout without their types to a folder. Lines and columns stay the same. */
async function stripInto(folder: string): Promise<void> {
  const isLeftOut = (name: string) => name === 'node_modules' || name.endsWith('.test.ts') || name.endsWith('.d.ts');
  for (const file of globSync('{daemons,packages}/**/*.ts', { cwd: root, exclude: isLeftOut })) {
    const target = join(folder, file);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, stripTypeScriptTypes(await readFile(join(root, file), 'utf8')));
  }
}

/** Strips the types once for all processes that the tests of a run start (`stripped-modules.mjs`). */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-stripped-'));
  // In a process of its own, because Node.js warns of this function.
  await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', import.meta.filename, folder]);
  process.env.STRIPPED_MODULES = folder;
  return () => rm(folder, { recursive: true, force: true });
}

if (process.argv[1] === import.meta.filename) await stripInto(process.argv[2]!);
