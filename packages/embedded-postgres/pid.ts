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
 * Whether the file's pid is the living server of this cluster. A server works in its data directory, so on Linux the
 * inode of its working directory decides, also after the directory was renamed. `gone`: no process has the pid.
 */
export function serverState(file: Pick<PidFile, 'pid' | 'data' | 'age'>, data: string): State {
  const { pid } = file;
  // Cut off by a full disk or a power failure, unless it is just being written.
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
    // Without the right to look it is another user's process, and ours runs as us or we are root.
    if (codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM') return 'other';
    // A zombie has no working directory. Nothing is known where /proc is not mounted.
    return existsSync('/proc/self/stat') ? 'other' : 'unknown';
  }
}

/** Cheap enough for a poll, and true in doubt. */
export function isRunning(pid: number, data: string): boolean {
  if (process.platform !== 'linux') return signalable(pid);
  return ['ours', 'unknown'].includes(serverState({ pid, data, age: 0 }, data));
}

/**
 * PostgreSQL clears a stale pid file itself, except when its pid now belongs to another process of the same user.
 * Only called when the pid is certainly not this cluster's server. Moved aside before it is looked at again, so that
 * the file a faster start has just written is put back; the server's shared memory key guards the moment between.
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
