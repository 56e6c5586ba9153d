import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '@tradepost/testing/processes/free-ports';
import { isInstalled } from '@tradepost/testing/processes/is-installed';
import { expect, test } from 'vitest';
import { root as checkout } from '../architecture/tree.ts';
import { ignoredBy, parseDockerfile } from './dockerfile.ts';
import { runDockerfile } from './run-dockerfile.ts';

const dockerfile = await readFile(join(checkout, 'Dockerfile'), 'utf8');
const canRun = isInstalled('mmdebstrap', ['--version'], 'the tests of the image') && process.getuid?.() === 0;

test('secrets, tests and what the shop has stored stay out of the image', async () => {
  const isIgnored = ignoredBy(await readFile(join(checkout, '.dockerignore'), 'utf8'));
  const out = [
    '.git/config',
    '.tradepost/secrets.key',
    'secrets/shop.env',
    'shop.env',
    'packages/app/drain.test.ts',
    'node_modules/h3/x',
    'a/secrets.key',
  ];
  expect(out.filter((path) => !isIgnored(path))).toEqual([]);
  const inside = [
    'package-lock.json',
    'bin/tradepost.ts',
    'daemons/ready.ts',
    'sql/0001_core.sql',
    'packages/runtime/secrets/secrets.ts',
    'patches/x.patch',
  ];
  expect(inside.filter(isIgnored)).toEqual([]);
  for (const { name, args } of parseDockerfile(dockerfile))
    if (name === 'ENV' || name === 'ARG') expect(args).not.toMatch(/PASSWORD|SECRET|DATABASE_URL|REDIS_URL/);
});

test.runIf(canRun)(
  'the steps of the Dockerfile make a root in which the shop serves as a user without rights, and stops at SIGTERM',
  async () => {
    const steps: string[] = [];
    const image = await runDockerfile(dockerfile, (step) => steps.push(step));
    try {
      expect(image.user).not.toBe('root');
      const at = join(image.root, image.workdir);
      // The user of the shop cannot change the program.
      expect((await stat(join(at, 'bin/tradepost.ts'))).uid).toBe(0);
      const port = await freePorts();
      const ports = { PORT: String(port), GATEWAY_PORT: '0', ADMIN_PORT: String(port + 1), HOST: '127.0.0.1' };
      const shop = image.start(image.command, ports);
      let output = '';
      for (const stream of [shop.stdout!, shop.stderr!])
        stream.on('data', (chunk: Buffer) => {
          output += chunk;
        });
      const ended = once(shop, 'close');
      try {
        const health = () =>
          fetch(`http://127.0.0.1:${port}/health`).then(
            ({ status }) => status,
            () => 0,
          );
        await expect.poll(() => (shop.exitCode === null ? health() : output), { timeout: 60_000 }).toBe(200);
        const [checked] = await once(image.start(image.healthcheck, { ADMIN_PORT: ports.ADMIN_PORT }), 'close');
        expect(checked).toBe(0);
        expect(await (await fetch(`http://127.0.0.1:${port}/api/v1/products`)).json()).toMatchObject({ code: 0 });
        const [owner] = (await readFile(`/proc/${shop.pid}/status`, 'utf8')).match(/^Uid:\s+\d+/m) ?? [];
        expect(owner).toMatch(/\b1000$/);
      } finally {
        shop.kill('SIGTERM');
      }
      expect(await ended, output).toEqual([0, null]);
    } finally {
      await image.remove();
      if (process.env.TEST_LOG) process.stdout.write(`${steps.join('\n')}\n`);
    }
  },
  300_000,
);
