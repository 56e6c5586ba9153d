import { readdirSync, readFileSync } from 'node:fs';

/** Whether /proc exists. On platforms other than Linux the functions of this file return null or nothing. */
export const readable = process.platform === 'linux';
const ticksPerSecond = 100;

/** The fields of /proc/PID/stat after the name: [0] state, [1] parent, [11..14] CPU ticks. The name can have any characters. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

export function childrenOf(pid: number): number[] {
  if (!readable) return [];
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((candidate) => Number(statOf(candidate)?.[1]) === pid);
}

/** CPU seconds of a process, of its children that have ended, and with `tree` of its living children. */
export function cpuSeconds(pid: number, options: { tree?: boolean } = {}): number | null {
  if (!readable) return null;
  const pids = options.tree ? [pid, ...childrenOf(pid)] : [pid];
  const ticks = pids.map((one) => {
    const stat = statOf(one);
    return stat ? [11, 12, 13, 14].reduce((sum, field) => sum + Number(stat[field]), 0) : 0;
  });
  return ticks.reduce((sum, n) => sum + n, 0) / ticksPerSecond;
}

function kilobytes(path: string, field: string): number {
  try {
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(path, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Resident megabytes of one process. */
export const residentMb = (pid: number): number | null =>
  readable ? kilobytes(`/proc/${pid}/status`, 'VmRSS') / 1024 : null;

/** Megabytes of a process and its children. Shared pages count once. */
export function proportionalMb(pid: number): number | null {
  if (!readable) return null;
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + kilobytes(`/proc/${one}/smaps_rollup`, 'Pss'), 0) / 1024;
}
