import { readdirSync, readFileSync, statSync } from 'node:fs';
import { codeOf } from './system.ts';

type Process = { pid: number; parent: number; title: string };

/** The postgres processes whose working directory is this data directory. Linux only. */
function serverProcesses(data: string): Process[] {
  const here = statSync(data);
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, command, rest = ''] = /\((.*)\) (.*)/.exec(stat) ?? [];
      if (command !== 'postgres') return [];
      const there = statSync(`/proc/${name}/cwd`);
      if (there.ino !== here.ino || there.dev !== here.dev) return [];
      const title = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return [{ pid: Number(name), parent: Number(rest.split(' ')[1]), title }];
    } catch {
      // The process has ended in the meantime, or belongs to another user.
      return [];
    }
  });
}

/**
 * Signals the backends that a killed postmaster has left, and returns their number. They hold the shared memory, so a
 * new server cannot start; a busy backend holds it until its statement ends. A backend has a title ("postgres: ...").
 * The parent of an orphan is not a server of this directory, so a server that is starting gets no signal. SIGQUIT ends
 * a backend without clean-up, and the next start recovers from the WAL. Linux only; on other systems the
 * caller waits.
 */
export function endOrphans(data: string): number {
  if (process.platform !== 'linux') return 0;
  const processes = serverProcesses(data);
  const pids = new Set(processes.map(({ pid }) => pid));
  const orphans = processes.filter(({ parent, title }) => title.startsWith('postgres: ') && !pids.has(parent));
  for (const { pid } of orphans)
    try {
      process.kill(pid, 'SIGQUIT');
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  return orphans.length;
}
