import { execFile, spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { commandEnvironment } from '@tradepost/testing/processes/process';
import { cloneDatabase, type TestDatabase } from '@tradepost/testing/servers/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packProduct } from '../../publish/pack-product.ts';

/** The product as `npm install --global` installs it: below `node_modules`, where Node reads no TypeScript. */
const run = promisify(execFile);
const modules = join(import.meta.dirname, '../../node_modules');
let folder: string;
let program: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradepost-product-'));
  const product = join(folder, 'lib/node_modules/tradepost');
  const [tarball, opened] = await Promise.all([
    packProduct(folder),
    cloneDatabase(),
    mkdir(product, { recursive: true }),
  ]);
  database = opened;
  await run('tar', ['-xzf', tarball, '-C', product, '--strip-components=1']);
  program = join(product, 'bin/tradepost.js');
  // Without a registry npm cannot install the dependencies. They are those of the checkout.
  const manifest = JSON.parse(await readFile(join(product, 'package.json'), 'utf8'));
  for (const name of Object.keys(manifest.dependencies)) {
    if (manifest.bundleDependencies.includes(name)) continue;
    await mkdir(dirname(join(product, 'node_modules', name)), { recursive: true });
    await symlink(join(modules, name), join(product, 'node_modules', name));
  }
}, 120_000);
afterAll(async () => {
  await database?.drop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const environment = () => commandEnvironment({ DATABASE_URL: database.url, TRADEPOST_DATA: join(folder, 'data') });
const tradepost = async (...args: string[]) =>
  (await run(process.execPath, [program, ...args], { env: environment(), maxBuffer: 2 ** 24 })).stdout;

test('the help, the completion of all commands, and a command on a database', async () => {
  expect(await tradepost('--help')).toContain('run the shop');
  expect(await tradepost('completion', 'bash')).toContain("'settings set pay.provider'");
  expect(JSON.parse(await tradepost('audit', '--json'))).toMatchObject({ ok: true });
});

test('the printed units and the command name files of the installation', async () => {
  const printed = await tradepost('service', 'print');
  const named = new Set(printed.match(new RegExp(`${dirname(dirname(program))}/[\\w./-]+`, 'g')));
  expect([...named].map((file) => basename(file)).sort()).toEqual(
    ['OPERATIONS.md', 'carrier-sync.js', 'ready.js', 'tradepost.js', 'wms-retry.js', 'worker.js'].sort(),
  );
  for (const file of named) await access(file);
});

test('the server serves the shop, its reference and its document', async () => {
  const ports = ['--port', '0', '--gateway-port', '0', '--admin-port', 'off'];
  const child = spawn(process.execPath, [program, 'start', ...ports], { env: environment() });
  const ended = new Promise((resolve) => child.on('close', resolve));
  try {
    let output = '';
    const url = await new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        output += chunk.toString();
        const match = /Shop API\s+(http:\S+)/.exec(output);
        if (match) resolve(match[1]!);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      void ended.then(() => reject(new Error(output)));
    });
    for (const path of ['/health', '/api/v1/products', '/openapi.json?lang=zh-CN', '/docs/swagger-ui-bundle.js'])
      expect((await fetch(url + path)).status, path).toBe(200);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
});
