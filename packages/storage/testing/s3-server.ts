import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The only keys that the server accepts. It checks the signature of every request. */
export const s3Keys = { id: 'S3RVER', secret: 'S3RVER' };

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Starts an S3-compatible server with these buckets as a process of its own. */
export async function startS3(buckets: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'tradepost-s3-'));
  const port = await freePort();
  const main = createRequire(import.meta.url).resolve('s3rver/package.json');
  const script = join(dirname(main), 'bin/s3rver.js');
  const child = spawn(
    process.execPath,
    [
      script,
      '-d',
      folder,
      '-a',
      '127.0.0.1',
      '-p',
      String(port),
      ...buckets.flatMap((bucket) => ['--configure-bucket', bucket]),
    ],
    { stdio: 'ignore', env: { PATH: process.env.PATH ?? '' } },
  );
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; ; attempt += 1) {
    const ready = await fetch(url).then(
      () => true,
      () => false,
    );
    if (ready) break;
    if (attempt === 100) throw new Error('the S3 server does not answer');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    async close() {
      process.off('exit', kill);
      const ended = once(child, 'close');
      kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
