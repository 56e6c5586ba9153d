import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { modules } from '@tradepost/app';
import { commandEnvironment } from '@tradepost/testing/processes/process';
import { expect, test } from 'vitest';
import { findCommands } from './find-commands.ts';

const run = promisify(execFile);

/** The files that a command line imports, in a process of its own. */
async function filesOf(...args: string[]): Promise<string[]> {
  const program = `
    import { registerHooks } from 'node:module';
    const files = [];
    registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
    const { main } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'index.ts')).href)});
    await main(${JSON.stringify(args)});
    process.stderr.write(JSON.stringify(files));`;
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', program], {
    env: commandEnvironment({}),
  });
  return (JSON.parse(stderr) as string[]).filter((url) => url.startsWith('file:'));
}

test('the help and the version load the lists of commands and nothing of the shop', async () => {
  const light =
    /\/packages\/(cli\/[a-z-]+\.ts|[a-z-]+\/commands\/index\.ts|app\/version\.ts)$|\/node_modules\/commander\//;
  for (const flag of ['--help', '--version']) {
    const files = await filesOf(flag);
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => !light.test(file))).toEqual([]);
  }
});

test('the help of a command loads this command and no other one', async () => {
  const files = await filesOf('analytics', '--help');
  expect(files.filter((file) => /\/packages\/[\w-]+\/commands\/(?!index)/.test(file))).toEqual([
    expect.stringMatching(/\/packages\/analytics\/commands\/analytics\.ts$/),
  ]);
});

test('every command belongs to a module, so that a configuration can switch it off', async () => {
  const owners = new Set((await findCommands()).map(({ owner }) => owner));
  for (const always of ['app', 'cli']) owners.delete(always);
  const names = modules.map(({ name }) => name);
  expect([...owners].filter((owner) => !names.includes(owner))).toEqual([]);
});
