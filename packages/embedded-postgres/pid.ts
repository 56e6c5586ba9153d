import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from './system.ts';

export function signalable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

export type PidFile = { text: string; age: number; pid: number; data: string; port: number; status: string };

/** Lines of postmaster.pid: pid, data directory, start time, port, socket directory, address, shared memory, status. */
export function readPidFile(data: string): PidFile | undefined {
  try {
    const path = join(data, 'postmaster.pid');
    const text = readFileSync(path, 'utf8');
    const age = Date.now() - statSync(path).mtimeMs;
    const lines = text.split('\n').map((line) => line.trim());
    return { text, age, pid: Number(lines[0]), data: lines[1] ?? '', port: Number(lines[3]), status: lines[7] ?? '' };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

type State = 'ours' | 'other' | 'gone' | 'unknown';

/**
 * Whether the process with the pid of the file is the server of this cluster. The data directory is the working
 * directory of its server, so on Linux the inode of that directory decides, also after a rename. `gone`: no process has
 * the pid.
 */
export function serverState(file: Pick<PidFile, 'pid' | 'data' | 'age'>, data: string): State {
  const { pid } = file;
  // The file is incomplete: it is being written, or the disk was full, or the power failed.
  if (!pid) return file.age > 5000 ? 'other' : 'gone';
  if (!signalable(Math.abs(pid))) return 'gone';
  if (process.platform === 'win32') return 'unknown';
  if (process.platform !== 'linux') {
    try {
      const command = execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
      return command.includes('postgres') && command.includes(file.data) ? 'ours' : 'other';
    } catch {
      return 'unknown';
    }
  }
  try {
    const there = statSync(`/proc/${pid}/cwd`);
    const here = statSync(data);
    const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    return there.ino === here.ino && there.dev === here.dev && name === 'postgres' ? 'ours' : 'other';
  } catch (error) {
    // The process belongs to another user. Our server runs as our user, or this process is root and may read
    // everything.
    if (codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return 'other';
    // A zombie process has no working directory. On a system without /proc the state is unknown.
    return existsSync('/proc/self/stat') ? 'other' : 'unknown';
  }
}

/** Whether the server runs. True when it is not known. Fast enough for a poll. */
export function isRunning(pid: number, data: string): boolean {
  if (process.platform !== 'linux') return signalable(pid);
  return ['ours', 'unknown'].includes(serverState({ pid, data, age: 0 }, data));
}

/**
 * Removes a stale pid file. PostgreSQL does that itself, except when the pid now belongs to another process of the same
 * user. Call it only when the pid is certainly not the server of this cluster. The file is renamed and then compared:
 * when a faster start has just written it, it is renamed back. In between, the shared memory key of the server prevents
 * a second one.
 */
export async function removeStalePidFile(data: string, stale: PidFile): Promise<void> {
  const path = join(data, 'postmaster.pid');
  const aside = join(data, `postmaster.pid.stale-${randomBytes(4).toString('hex')}`);
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if ((await readFile(aside, 'utf8')) !== stale.text) await rename(aside, path);
  else await rm(aside);
}
