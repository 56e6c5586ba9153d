import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { defer } from '@tradepost/testing/processes/cleanup';
import { freePort, temporaryFolder } from './server.ts';

export type RedisServer = { url: string; pid: number; version: string; stop(): Promise<void> };

/** Starts a Redis or Valkey without persistence. Returns null when neither is installed. */
export async function startRedis(): Promise<RedisServer | null> {
  const command = ['redis-server', 'valkey-server'].find((name) => !spawnSync(name, ['--version']).error);
  if (!command) return null;
  const folder = await temporaryFolder();
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn(command, [...args, '--dir', folder.path], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = defer(async () => {
    // The process may be stopped, so only SIGKILL ends it.
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await ended;
    clearTimeout(patience);
    await folder.remove();
  });
  const url = `redis://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    const client = createClient({ url, socket: { reconnectStrategy: false } }).on('error', () => {});
    const info = await client.connect().then(
      () => client.info('server'),
      () => null,
    );
    if (client.isOpen) client.destroy();
    const version = info && /^(?:redis|valkey)_version:(.+)/m.exec(info)?.[1]?.trim();
    if (version) return { url, pid: child.pid!, version: `${command} ${version}`, stop };
    if (tries === 100) throw new Error(`${command} does not answer`);
    await sleep(50);
  }
}
