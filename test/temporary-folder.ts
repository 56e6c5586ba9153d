import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memoryDisk = '/dev/shm';
/** The databases and files of the tests that run at the same time need less than 2 GB. */
const neededBytes = 4 * 2 ** 30;

async function isUsable(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === memoryDisk);
  const [, , type, options = ''] = mount?.split(' ') ?? [];
  // Tests run programs from the folder. Docker mounts a small one from which none can run.
  if (type !== 'tmpfs' || options.split(',').includes('noexec')) return false;
  const { bavail, bsize } = await statfs(memoryDisk);
  return bavail * bsize >= neededBytes && process.availableMemory() >= 2 * neededBytes;
}

/**
 * The folder for the temporary files of all tests: in memory where the machine has enough of it, so that their databases wait
 * for no disk. The tests kill processes and no machines, and memory outlives a process as a disk does.
 */
export async function makeTemporaryFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  // A folder that the caller has chosen is used.
  const parent = !process.env.TMPDIR && (await isUsable()) ? memoryDisk : tmpdir();
  const folder = await mkdtemp(join(parent, 'tradepost-suite-'));
  // As root, PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o755);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
