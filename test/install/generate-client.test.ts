import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** `npm ci` runs it as `prepare`, also with --omit=dev. */
const checkout = join(import.meta.dirname, '../..');
const client = 'packages/client';
let root: string;

/** npm 9 installs the generator with --omit=dev, and not what the generator imports. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tradepost-prepare-'));
  const generator = join(root, client, 'node_modules/openapi-typescript');
  await mkdir(generator, { recursive: true });
  await writeFile(join(generator, 'package.json'), '{"type":"module","exports":"./index.js"}');
  await writeFile(join(generator, 'index.js'), "import '@redocly/openapi-core';\n");
  await writeFile(join(root, 'package.json'), '{"type":"module"}');
  for (const file of ['generate.ts', 'read-snapshots.ts'].map((name) => `${client}/${name}`))
    await cp(join(checkout, file), join(root, file));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const prepare = () =>
  new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const env = { ...process.env, npm_config_user_agent: 'npm/9.2.0 node/v18.20.4 linux x64' };
    execFile(process.execPath, [join(root, client, 'generate.ts')], { env }, (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    );
  });

test('does nothing in an installation without the packages for development', async () => {
  expect(await prepare()).toMatchObject({ code: 0 });
  expect(await readdir(join(root, client))).not.toContain('schema.ts');
});

test('fails when these packages are installed in part, and names the version of npm', async () => {
  await mkdir(join(root, 'node_modules/vitest'), { recursive: true });
  expect(await prepare()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /not complete: run npm ci again, with npm 10 or newer \(this is npm 9\.2\.0\): .*@redocly/,
    ),
  });
});
