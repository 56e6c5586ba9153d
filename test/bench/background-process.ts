import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { defer } from '@tradepost/testing/processes/cleanup';

const repository = join(import.meta.dirname, '../..');

/** Starts a process of the shop that serves no port. Returns a function that stops it. */
export function startBackgroundProcess(args: readonly string[], env: Record<string, string>): () => Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [...args], {
    cwd: repository,
    env: { PATH, HOME, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return defer(async () => {
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await ended;
    clearTimeout(patience);
  });
}
