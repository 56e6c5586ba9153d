import { readdirSync, readFileSync, statSync } from 'node:fs';
import { codeOf } from './system.ts';

type Process = { pid: number; parent: number; title: string };

/** The postgres processes that work in this data directory. Linux only. */
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
      // It has ended meanwhile, or belongs to another user.
      return [];
    }
  });
}

/**
 * Ends the backends that a killed postmaster has left behind; answers how many it asked to end. They hold the shared memory
 * that keeps a new server from starting, a busy one for as long as its statement runs. A backend has a title ("postgres: ...")
 * and an orphan's parent is no server of this directory, so a server that is starting is never hit. SIGQUIT is PostgreSQL's own
 * signal for "end without clean-up"; the next start recovers from the write-ahead log. On other systems the caller waits.
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
